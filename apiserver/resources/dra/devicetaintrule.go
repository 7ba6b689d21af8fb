package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// deviceTaintRules returns the entry of DeviceTaintRule (V-005). The kind is stored as v1beta2, so that a server of the
// previous minor version, which has no v1, can read it.
func deviceTaintRules(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "devicetaintrules", New: entry.New[resourcev1.DeviceTaintRule],
		Storage: entry.Storage{
			Stored:     resourcev1beta2.SchemeGroupVersion.WithKind("DeviceTaintRule"),
			ToStored:   entry.Recast[resourcev1beta2.DeviceTaintRule],
			FromStored: entry.Recast[resourcev1.DeviceTaintRule],
		},
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: resourcev1beta2.SchemeGroupVersion, New: entry.New[resourcev1beta2.DeviceTaintRule],
				// In v1beta2, updates may be unconditional and a DELETE returns the object (K
				// pkg/registry/resource/devicetaintrule: AllowUnconditionalUpdate, NewRESTLegacy).
				Change: func(r *entry.Resource) { r.Strategy.Conditional, r.Delete.Returned = false, true }},
		}},
		Strategy: entry.Strategy{
			Generation:  entry.SpecGeneration,
			Conditional: true,
			Default: entry.Default(func(r *resourcev1.DeviceTaintRule) {
				check.SetDefault(&r.Spec.Taint.TimeAdded, clock())
			}),
			Prepare: entry.Change(func(r, old *resourcev1.DeviceTaintRule) {
				if old != nil {
					timeEffect(clock, &r.Spec.Taint, &old.Spec.Taint)
				}
			}),
			Validate: entry.Validate(validateDeviceTaintRule),
		},
		Subresources: entry.StatusOf(entry.KeepMeta[*resourcev1.DeviceTaintRule], validateDeviceTaintRuleStatus),
		Table:        entry.NameAndAge[*resourcev1.DeviceTaintRule](),
	}
}

// timeEffect sets timeAdded of a taint to the current time if the effect changed and the client did not change
// timeAdded. The seconds of tolerations count from this time (K pkg/registry/resource/devicetaintrule:
// PrepareForUpdate).
func timeEffect(now entry.Clock, t, old *resourcev1.DeviceTaint) {
	if t.Effect != old.Effect && t.TimeAdded.Equal(old.TimeAdded) {
		at := now()
		t.TimeAdded = &at
	}
}

func validateDeviceTaintRule(r *resourcev1.DeviceTaintRule) field.ErrorList {
	at := field.NewPath("spec")
	errs := check.Optional(r.Spec.DeviceSelector, at.Child("deviceSelector"), taintSelector)
	return append(errs, deviceTaint(&r.Spec.Taint, at.Child("taint"))...)
}

func taintSelector(s *resourcev1.DeviceTaintSelector, at *field.Path) field.ErrorList {
	errs := check.Given(s.Driver, at.Child("driver"), podspec.CSIDriver)
	errs = append(errs, check.Given(s.Pool, at.Child("pool"), poolName)...)
	return append(errs, check.Given(s.Device, at.Child("device"), check.DNSLabel)...)
}

func validateDeviceTaintRuleStatus(r, _ *resourcev1.DeviceTaintRule) field.ErrorList {
	at, list := field.NewPath("status", "conditions"), r.Status.Conditions
	return append(v1validation.ValidateConditions(list, at),
		check.MaxItems(len(list), resourcev1.DeviceTaintRuleStatusMaxConditions, at)...)
}
