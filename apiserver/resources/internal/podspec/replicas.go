package podspec

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: scale subresources, which are objects of autoscaling/v1, and rollbacks, which have no path.

// SameSelector requires that a selector is unchanged.
func SameSelector(now, was *metav1.LabelSelector) field.ErrorList {
	return apivalidation.ValidateImmutableField(now, was, check.SpecPath.Child("selector"))
}

// Count is a number of a status and its name.
type Count struct {
	Name string
	N    int32
}

// Counts requires numbers of zero or more, and that no number in most exceeds all.
func Counts(all int32, list, most []Count) (errs field.ErrorList) {
	for _, c := range list {
		errs = append(errs, check.Natural(c.N, check.StatusPath.Child(c.Name))...)
	}
	for _, c := range most {
		if c.N > all {
			errs = append(errs, field.Invalid(check.StatusPath.Child(c.Name), c.N, "cannot be greater than status.replicas"))
		}
	}
	return errs
}

// AvailableReady requires that there are not more available than ready pods.
func AvailableReady(available, ready int32, text string) field.ErrorList {
	if available <= ready {
		return nil
	}
	return field.ErrorList{field.Invalid(check.StatusPath.Child("availableReplicas"), available, text)}
}

// SetStatus validates the numbers in the status of ReplicaSets and ReplicationControllers.
func SetStatus(all, labeled, ready, available int32, terminating *int32, generation int64) field.ErrorList {
	parts := []Count{{"fullyLabeledReplicas", labeled}, {"readyReplicas", ready}, {"availableReplicas", available}}
	errs := Counts(all, append([]Count{{"replicas", all}}, parts...), nil)
	errs = append(errs, check.Naturals(check.StatusPath, "terminatingReplicas", terminating)...)
	errs = append(errs, check.Natural(generation, check.StatusPath.Child("observedGeneration"))...)
	errs = append(errs, Counts(all, nil, parts)...)
	return append(errs, AvailableReady(available, ready, "cannot be greater than readyReplicas")...)
}
