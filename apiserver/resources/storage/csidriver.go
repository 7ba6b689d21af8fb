package storage

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func csiDrivers() *entry.Resource {
	return &entry.Resource{
		Plural: "csidrivers", New: entry.New[storagev1.CSIDriver],
		Strategy: entry.Strategy{
			Generation:  entry.UpdateOnlyGeneration,
			Conditional: true,
			Default:     entry.Default(defaultCSIDriver),
			Validate:    entry.ValidateEither(validateCSIDriverObject, validateCSIDriverUpdate),
		},
		Delete: entry.Deletion{Returned: true},
		Table:  csiDriverTable(),
	}
}

// defaultCSIDriver sets the defaults. For example, the driver requires attachment and gets no information about pods.
func defaultCSIDriver(d *storagev1.CSIDriver) {
	check.SetDefault(&d.Spec.AttachRequired, true)
	check.SetDefault(&d.Spec.PodInfoOnMount, false)
	check.SetDefault(&d.Spec.StorageCapacity, false)
	check.SetDefault(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(d.Spec.VolumeLifecycleModes) == 0 {
		d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	check.SetDefault(&d.Spec.RequiresRepublish, false)
	check.SetDefault(&d.Spec.SELinuxMount, false)
}

var (
	fsGroupPolicies = []storagev1.FSGroupPolicy{
		storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy,
	}
	lifecycleModes = []storagev1.VolumeLifecycleMode{
		storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral,
	}
)

func validateCSIDriverObject(d *storagev1.CSIDriver) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &d.Spec
	for _, flag := range []struct {
		name  string
		value *bool
	}{
		{"attachedRequired", s.AttachRequired}, {"podInfoOnMount", s.PodInfoOnMount}, {"storageCapacity", s.StorageCapacity},
	} {
		errs = append(errs, check.Present(flag.value != nil, at.Child(flag.name), "")...)
	}
	errs = append(errs, check.GivenOneOf(s.FSGroupPolicy, at.Child("fsGroupPolicy"), fsGroupPolicies)...)
	errs = append(errs, tokenRequests(s.TokenRequests, at.Child("tokenRequests"))...)
	for _, mode := range s.VolumeLifecycleModes {
		errs = append(errs, check.OneOf(mode, at.Child("volumeLifecycleModes"), lifecycleModes)...)
	}
	errs = append(errs, check.Present(s.SELinuxMount != nil, at.Child("seLinuxMount"), "")...)
	if p := s.NodeAllocatableUpdatePeriodSeconds; p != nil && *p < 10 {
		errs = append(errs, field.Invalid(at.Child("nodeAllocatableUpdatePeriodSeconds"), *p,
			"must be greater than or equal to 10 seconds"))
	}
	return errs
}

// tokenRequests rejects duplicate audiences, and tokens with a lifetime below ten minutes.
func tokenRequests(list []storagev1.TokenRequest, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, r := range list {
		at := at.Index(i)
		if seen[r.Audience] {
			errs = append(errs, field.Duplicate(at.Child("audience"), r.Audience))
			continue
		}
		seen[r.Audience] = true
		if r.ExpirationSeconds == nil {
			continue
		}
		errs = append(errs, check.Reject(*r.ExpirationSeconds < 600, at.Child("expirationSeconds"), r.ExpirationSeconds,
			"may not specify a duration less than 10 minutes")...)
		errs = append(errs, check.Reject(*r.ExpirationSeconds > 1<<32, at.Child("expirationSeconds"), r.ExpirationSeconds,
			"may not specify a duration larger than 2^32 seconds")...)
	}
	return errs
}

func validateCSIDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	at := field.NewPath("spec")
	errs := validateCSIDriverObject(d)
	errs = append(errs, check.Immutable(d.Spec.AttachRequired, old.Spec.AttachRequired, at.Child("attachedRequired"))...)
	return append(
		errs,
		check.Immutable(d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes, at.Child("volumeLifecycleModes"))...,
	)
}

func csiDriverTable() entry.Table {
	spec := storagev1.CSIDriverSpec{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Boolean("AttachRequired", spec["attachRequired"]),
		entry.Boolean("PodInfoOnMount", spec["podInfoOnMount"]),
		entry.Boolean("StorageCapacity", spec["storageCapacity"]),
		entry.Text("TokenRequests", spec["tokenRequests"]),
		entry.Boolean("RequiresRepublish", spec["requiresRepublish"]),
		entry.Text("Modes", spec["volumeLifecycleModes"]),
	}, func(d *storagev1.CSIDriver) []any {
		tokens := entry.Unset
		if d.Spec.TokenRequests != nil {
			var audiences []string
			for _, r := range d.Spec.TokenRequests {
				audiences = append(audiences, r.Audience)
			}
			tokens = strings.Join(audiences, ",")
		}
		var modes []string
		for _, m := range d.Spec.VolumeLifecycleModes {
			modes = append(modes, string(m))
		}
		return []any{
			entry.ValueOr(d.Spec.AttachRequired, true),
			entry.ValueOr(d.Spec.PodInfoOnMount, false),
			entry.ValueOr(d.Spec.StorageCapacity, false),
			tokens,
			entry.ValueOr(d.Spec.RequiresRepublish, false),
			entry.StringOr(strings.Join(modes, ","), entry.None),
		}
	})
}
