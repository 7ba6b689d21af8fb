package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func podDisruptionBudgets() *entry.Resource {
	return &entry.Resource{
		Plural: "poddisruptionbudgets", New: entry.New[policyv1.PodDisruptionBudget], Namespaced: true,
		ShortNames: []string{"pdb"},
		Strategy: entry.Strategy{
			// ValidatePodDisruptionBudget validates only the spec (policy/validation).
			Generation:  entry.SpecGeneration,
			Conditional: true,
			Metadata:    entry.Metadata{Plain: true},
			Validate:    entry.ValidateChange(validateDisruptionBudget),
		},
		Subresources: entry.StatusOf(nil, validateDisruptionBudgetStatus),
		Table:        disruptionBudgetTable(),
	}
}

var evictionPolicies = []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}

func validateDisruptionBudget(b, old *policyv1.PodDisruptionBudget) (errs field.ErrorList) {
	if old == nil {
		old = &policyv1.PodDisruptionBudget{}
	}
	at, s := field.NewPath("spec"), &b.Spec
	errs = append(errs, check.Reject(s.MinAvailable != nil && s.MaxUnavailable != nil, at, s,
		"minAvailable and maxUnavailable cannot be both set")...)
	for _, bound := range []struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", s.MinAvailable}, {"maxUnavailable", s.MaxUnavailable}} {
		if bound.value != nil {
			errs = append(errs, check.IntOrPercent(*bound.value, at.Child(bound.name))...)
			errs = append(errs, check.AtMostWhole(*bound.value, at.Child(bound.name))...)
		}
	}
	errs = append(errs, check.LabelSelector(s.Selector, old.Spec.Selector, at.Child("selector"))...)
	return append(errs, check.GivenOneOf(s.UnhealthyPodEvictionPolicy, at.Child("unhealthyPodEvictionPolicy"),
		evictionPolicies)...)
}

func validateDisruptionBudgetStatus(b, _ *policyv1.PodDisruptionBudget) field.ErrorList {
	at, s := field.NewPath("status"), &b.Status
	errs := v1validation.ValidateConditions(s.Conditions, at.Child("conditions"))
	for _, count := range []struct {
		name  string
		value int32
	}{
		{"disruptionsAllowed", s.DisruptionsAllowed}, {"currentHealthy", s.CurrentHealthy},
		{"desiredHealthy", s.DesiredHealthy}, {"expectedPods", s.ExpectedPods},
	} {
		errs = append(errs, check.Natural(count.value, at.Child(count.name))...)
	}
	return errs
}

func disruptionBudgetTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Min Available", "The minimum number of pods that must be available."),
		entry.Text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		entry.Integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
	}, func(b *policyv1.PodDisruptionBudget) []any {
		amount := func(v *intstr.IntOrString) string {
			if v == nil {
				return "N/A"
			}
			return v.String()
		}
		return []any{amount(b.Spec.MinAvailable), amount(b.Spec.MaxUnavailable), int64(b.Status.DisruptionsAllowed)}
	})
}
