package autoscaling

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const (
	maxPeriodSeconds        = 1800
	maxStabilizationSeconds = 3600
)

// autoscalerTolerance has the kinds of invalid values that an update may keep.
type autoscalerTolerance struct{ targetVersion, objectVersions bool }

func validateAutoscaler(a, old *autoscalingv2.HorizontalPodAutoscaler) (errs field.ErrorList) {
	var t autoscalerTolerance
	if old != nil {
		t.targetVersion = versionFault(old.Spec.ScaleTargetRef, false) != ""
		t.objectVersions = slices.ContainsFunc(old.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
			return m.Object != nil && versionFault(m.Object.DescribedObject, true) != ""
		})
	}
	at, s := field.NewPath("spec"), &a.Spec
	errs = append(errs, check.Reject(s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas, at.Child("maxReplicas"),
		s.MaxReplicas, "must be greater than or equal to `minReplicas`")...)
	errs = append(errs, scaleTarget(s.ScaleTargetRef, false, t.targetVersion, at.Child("scaleTargetRef"))...)
	outside := false
	for i := range s.Metrics {
		errs = append(errs, metric(&s.Metrics[i], t.objectVersions, at.Child("metrics").Index(i))...)
		outside = outside || s.Metrics[i].Type == autoscalingv2.ObjectMetricSourceType ||
			s.Metrics[i].Type == autoscalingv2.ExternalMetricSourceType
	}
	errs = append(errs, check.Forbid(s.MinReplicas != nil && *s.MinReplicas == 0 && !outside, at.Child("metrics"),
		"must specify at least one Object or External metric to support scaling to zero replicas")...)
	if b := s.Behavior; b != nil {
		errs = append(errs, check.Optional(b.ScaleUp, at.Child("behavior", "scaleUp"), validateScalingRules)...)
		errs = append(errs, check.Optional(b.ScaleDown, at.Child("behavior", "scaleDown"), validateScalingRules)...)
	}
	return errs
}

// scaleTarget validates a reference. With core it allows core kinds. With tolerate it accepts an invalid version.
func scaleTarget(r autoscalingv2.CrossVersionObjectReference, core, tolerate bool, at *field.Path) field.ErrorList {
	errs := check.Needed(r.Kind, at.Child("kind"), check.PathSegment)
	errs = append(errs, check.Needed(r.Name, at.Child("name"), check.PathSegment)...)
	if text := versionFault(r, core); text != "" && !tolerate {
		errs = append(errs, field.Invalid(at.Child("apiVersion"), r.APIVersion, text))
	}
	return errs
}

// versionFault returns the error of a reference's version, or an empty string. Of the core kinds, only
// ReplicationController has a scale.
func versionFault(r autoscalingv2.CrossVersionObjectReference, core bool) string {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	switch {
	case err != nil:
		return err.Error()
	case gv.Group == "" && !core && r.Kind != "ReplicationController":
		return "apiVersion must specify API group"
	}
	return ""
}

var (
	selectPolicies = []autoscalingv2.ScalingPolicySelect{
		autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect,
	}
	scalingTypes = []autoscalingv2.HPAScalingPolicyType{
		autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy,
	}
)

func validateScalingRules(r *autoscalingv2.HPAScalingRules, at *field.Path) (errs field.ErrorList) {
	if w := r.StabilizationWindowSeconds; w != nil {
		errs = append(errs, check.Reject(*w < 0, at.Child("stabilizationWindowSeconds"), w,
			"must be greater than or equal to zero")...)
		errs = append(errs, check.Reject(*w > maxStabilizationSeconds, at.Child("stabilizationWindowSeconds"), w,
			fmt.Sprintf("must be less than or equal to %v", maxStabilizationSeconds))...)
	}
	errs = append(errs, check.GivenOneOf(r.SelectPolicy, at.Child("selectPolicy"), selectPolicies)...)
	errs = append(errs, check.Present(len(r.Policies) > 0, at.Child("policies"), "must specify at least one Policy")...)
	for i, p := range r.Policies {
		at := at.Child("policies").Index(i)
		errs = append(errs, check.OneOf(p.Type, at.Child("type"), scalingTypes)...)
		errs = append(errs, check.Reject(p.Value <= 0, at.Child("value"), p.Value, check.NotPositiveText)...)
		errs = append(errs, check.Reject(p.PeriodSeconds <= 0, at.Child("periodSeconds"), p.PeriodSeconds,
			check.NotPositiveText)...)
		errs = append(errs, check.Reject(p.PeriodSeconds > maxPeriodSeconds, at.Child("periodSeconds"), p.PeriodSeconds,
			fmt.Sprintf("must be less than or equal to %v", maxPeriodSeconds))...)
	}
	return append(errs, check.Given(r.Tolerance, at.Child("tolerance"), check.NonNegativeQuantity)...)
}

func validateAutoscalerStatus(a, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	errs := check.Natural(a.Status.CurrentReplicas, check.StatusPath.Child("currentReplicas"))
	return append(errs, check.Natural(a.Status.DesiredReplicas, check.StatusPath.Child("desiredReplicas"))...)
}
