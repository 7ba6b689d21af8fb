package validation

import (
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var evictionPolicies = []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}

// selector judges a label selector. Values that no label can have are tolerated on an update of an
// object whose old selector was wrong.
func selector(now, was *metav1.LabelSelector, at *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{}
	opts.AllowInvalidLabelValueInSelector = len(invalid.Selector(was, opts, nil)) > 0
	return invalid.Selector(now, opts, at)
}

func disruptionBudget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	return disruptionBudgetUpdate(b, &policyv1.PodDisruptionBudget{})
}

func disruptionBudgetUpdate(b, old *policyv1.PodDisruptionBudget) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &b.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(at, internal(s), "minAvailable and maxUnavailable cannot be both set"))
	}
	for _, bound := range []struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", s.MinAvailable}, {"maxUnavailable", s.MaxUnavailable}} {
		if bound.value != nil {
			errs = append(errs, intOrPercent(*bound.value, at.Child(bound.name))...)
			errs = append(errs, atMostWhole(*bound.value, at.Child(bound.name))...)
		}
	}
	errs = append(errs, selector(s.Selector, old.Spec.Selector, at.Child("selector"))...)
	if p := s.UnhealthyPodEvictionPolicy; p != nil {
		errs = append(errs, oneOf(*p, at.Child("unhealthyPodEvictionPolicy"), evictionPolicies)...)
	}
	return errs
}

func disruptionBudgetStatus(b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
	at, s := field.NewPath("status"), &b.Status
	errs := invalid.Conditions(s.Conditions, at.Child("conditions"))
	for _, count := range []struct {
		name  string
		value int32
	}{
		{"disruptionsAllowed", s.DisruptionsAllowed}, {"currentHealthy", s.CurrentHealthy},
		{"desiredHealthy", s.DesiredHealthy}, {"expectedPods", s.ExpectedPods},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(count.value), at.Child(count.name))...)
	}
	return errs
}
