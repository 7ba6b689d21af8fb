package apps

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// podSelector requires a selector that is not empty (apps ValidateReplicaSetSpec and others), and returns it if it is
// valid.
func podSelector(s *metav1.LabelSelector, unusable, empty string) (labels.Selector, field.ErrorList) {
	at := check.SpecPath.Child("selector")
	var errs field.ErrorList
	if s == nil {
		errs = check.RequireAll(check.SpecPath, "selector", "")
	} else {
		errs = podspec.ValidateSelector(s, false, at)
		errs = append(errs, check.Reject(len(s.MatchLabels)+len(s.MatchExpressions) == 0, at, s, empty)...)
	}
	usable, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, append(errs, field.Invalid(at, s, unusable))
	}
	return usable, errs
}

// replicas validates the pod template. A missing selector matches nothing, so it also makes the template invalid.
func replicas(s labels.Selector, t, old *corev1.PodTemplateSpec) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	if !s.Empty() {
		errs = podspec.MatchesSelector(s, t, check.TemplatePath)
	}
	errs = append(errs, podspec.ValidateTemplate(t, old, check.TemplatePath)...)
	return append(errs, podspec.RestartsAlways(t, "ReplicaSet", check.TemplatePath)...)
}

func sizeOf(v intstr.IntOrString) int {
	if n, ok := check.PercentOf(v); ok {
		return n
	}
	return v.IntValue()
}

// collisions rejects a collision count that decreases.
func collisions(now, was *int32) field.ErrorList {
	return check.Reject(was != nil && (now == nil || *now < *was), check.StatusPath.Child("collisionCount"),
		check.ValueOf(now), "cannot be decremented")
}
