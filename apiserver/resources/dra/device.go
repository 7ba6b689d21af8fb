package dra

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// Not validated in resource.k8s.io: fields whose feature gates are off (list attributes, mappings to a node's
// resources).

func selectors(list []resourcev1.DeviceSelector, stored bool, at *field.Path) field.ErrorList {
	return each(list, resourcev1.DeviceSelectorsMaxSize, at, func(
		s *resourcev1.DeviceSelector, at *field.Path,
	) field.ErrorList {
		if s.CEL == nil {
			return field.ErrorList{field.Required(at.Child("cel"), "")}
		}
		return expression(s.CEL.Expression, stored, at.Child("cel", "expression"))
	})
}

// expression requires a selector that compiles to a bool, with a limited length and cost. A stored selector may exceed
// the limits and use functions that new ones may not use (A-48; API resource/v1/types.go:
// CELSelectorExpressionMaxCost). DRAConsumableCapacity is on by default, DRAListTypeAttributes is off.
func expression(text string, stored bool, at *field.Path) field.ErrorList {
	env := environment.NewExpressions
	switch {
	case stored:
		env = environment.StoredExpressions
	case len(text) > resourcev1.CELSelectorExpressionMaxLength:
		return field.ErrorList{field.TooLong(at, "", resourcev1.CELSelectorExpressionMaxLength)}
	}
	compiled := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).
		CompileCELExpression(text, cel.Options{EnvType: &env, DisableCostEstimation: stored})
	switch e := compiled.Error; {
	case e == nil && !stored && compiled.MaxCost > resourcev1.CELSelectorExpressionMaxCost:
		return field.ErrorList{field.Forbidden(at, "too complex, exceeds cost limit")}
	case e == nil:
		return nil
	case e.Type == apiservercel.ErrorTypeRequired:
		return field.ErrorList{field.Required(at, e.Detail)}
	case e.Type == apiservercel.ErrorTypeInvalid:
		return field.ErrorList{field.Invalid(at, text, e.Detail)}
	default:
		return field.ErrorList{field.InternalError(at, e)}
	}
}

func deviceConfig(c *resourcev1.DeviceConfiguration, stored bool, at *field.Path) field.ErrorList {
	at = at.Child("opaque")
	if c.Opaque == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := emptyDriver(c.Opaque.Driver, at.Child("driver"))
	return append(
		errs, rawObject(c.Opaque.Parameters, stored, resourcev1.OpaqueParametersMaxLength, at.Child("parameters"))...,
	)
}

// emptyDriver rejects an empty name. The declared rule also requires a name, but does not replace the handwritten error
// (V-036).
func emptyDriver(name string, at *field.Path) field.ErrorList {
	if name != "" {
		return nil
	}
	return check.DNSSubdomain("", at)
}

// rawObject requires a JSON object with a limited size. A stored object may be longer.
func rawObject(raw runtime.RawExtension, stored bool, most int, at *field.Path) field.ErrorList {
	switch {
	case len(raw.Raw) == 0:
		return field.ErrorList{field.Required(at, "")}
	case !stored && len(raw.Raw) > most:
		return field.ErrorList{field.TooLong(at, "", most)}
	}
	return check.JSONObject(raw.Raw, "", field.Invalid(at, "<value omitted>", "must be a valid JSON object"), at)
}

// deviceName requires a C identifier with an optional domain.
func deviceName(name resourcev1.QualifiedName, at *field.Path) (errs field.ErrorList) {
	parts := strings.Split(string(name), "/")
	switch len(parts) {
	case 1:
		return identifier(parts[0], at)
	case 2:
	default:
		return field.ErrorList{field.Invalid(at, string(name), "must not contain more than one slash")}
	}
	if parts[0] == "" {
		errs = append(errs, field.Invalid(at, "", "the domain must not be empty"))
	} else {
		errs = append(errs, podspec.CSIDriver(parts[0], at)...)
	}
	if parts[1] == "" {
		return append(errs, field.Invalid(at, "", "the name must not be empty"))
	}
	return append(errs, identifier(parts[1], at)...)
}

func identifier(id string, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.MaxBytes(len(id), resourcev1.DeviceMaxIDLength, at)...)
	return append(errs, check.Apply(id, at, content.IsCIdentifier)...)
}

func poolName(name string, at *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	errs = append(errs, check.MaxBytes(len(name), resourcev1.PoolNameMaxLength, at)...)
	for _, part := range strings.Split(name, "/") {
		errs = append(errs, check.DNSSubdomain(part, at)...)
	}
	return errs
}

func deviceToleration(t *resourcev1.DeviceToleration, at *field.Path) (errs field.ErrorList) {
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		errs = append(errs, check.Reject(t.Value != "", at.Child("value"), t.Value,
			"must be empty for operator `Exists`")...)
	case resourcev1.DeviceTolerationOpEqual:
		errs = append(errs, check.LabelValue(t.Value, at.Child("value"))...)
	case "":
		errs = append(errs, field.Required(at.Child("operator"), ""))
	}
	return errs
}

func deviceTolerations(list []resourcev1.DeviceToleration, at *field.Path) field.ErrorList {
	return each(list, len(list), at.Child("tolerations"), deviceToleration)
}

// bindingConditions validates the conditions that make a device usable on a node, and those that make it unusable.
func bindingConditions(ready, failed []string, at *field.Path) field.ErrorList {
	readyAt, failedAt := at.Child("bindingConditions"), at.Child("bindingFailureConditions")
	name := func(s *string, at *field.Path) field.ErrorList { return metav1validation.ValidateLabelName(*s, at) }
	errs := each(ready, resourcev1.BindingConditionsMaxSize, readyAt, name)
	errs = append(errs, each(failed, resourcev1.BindingFailureConditionsMaxSize, failedAt, name)...)
	good := check.Unique[string]{}
	errs = append(errs, check.All(ready, readyAt, good.Add)...)
	bad := check.Unique[string]{}
	for i, c := range failed {
		errs = append(errs, bad.Add(c, failedAt.Index(i))...)
		errs = append(errs, check.Reject(good[c], failedAt.Index(i), c,
			"bindingFailureConditions must not overlap with bindingConditions")...)
	}
	errs = append(errs, check.Reject(len(ready) == 0 && len(failed) > 0, readyAt, ready,
		"bindingConditions are required to use bindingFailureConditions")...)
	return append(errs, check.Reject(len(failed) == 0 && len(ready) > 0, failedAt, failed,
		"bindingFailureConditions are required to use bindingConditions")...)
}
