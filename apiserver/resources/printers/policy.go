package printers

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func disruptionBudgetColumns() []Column {
	return []Column{
		nameColumn,
		text("Min Available", "The minimum number of pods that must be available."),
		text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
		ageColumn,
	}
}

func disruptionBudgetCells(b *policyv1.PodDisruptionBudget, now time.Time) []any {
	amount := func(v *intstr.IntOrString) string {
		if v == nil {
			return "N/A"
		}
		return v.String()
	}
	return []any{
		b.Name,
		amount(b.Spec.MinAvailable),
		amount(b.Spec.MaxUnavailable),
		int64(b.Status.DisruptionsAllowed),
		age(&b.ObjectMeta, now),
	}
}
