package core

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// placementUpdate allows scheduling constraints to be added to a pod that is not scheduled yet. It copies the mutable
// fields from the old spec to s.
func placementUpdate(s, old *corev1.PodSpec) (errs field.ErrorList) {
	errs = append(errs, check.Reject(!includes(s.NodeSelector, old.NodeSelector), check.SpecPath.Child("nodeSelector"),
		s.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")...)
	s.NodeSelector = old.NodeSelector
	now, was := check.ValueOf(s.Affinity).NodeAffinity, check.ValueOf(old.Affinity).NodeAffinity
	if apiequality.Semantic.DeepEqual(now, was) {
		return errs
	}
	errs = append(errs, nodeAffinityUpdate(now, was, check.SpecPath.Child("affinity", "nodeAffinity"))...)
	switch {
	case s.Affinity == nil:
		s.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && s.Affinity.PodAffinity == nil && s.Affinity.PodAntiAffinity == nil:
		s.Affinity = nil
	default:
		s.Affinity.NodeAffinity = was
	}
	return errs
}

// includes reports whether m has all entries of part.
func includes(m, part map[string]string) bool {
	for key, value := range part {
		if now, ok := m[key]; !ok || now != value {
			return false
		}
	}
	return true
}

// nodeAffinityUpdate allows required terms to become stricter.
func nodeAffinityUpdate(now, was *corev1.NodeAffinity, at *field.Path) (errs field.ErrorList) {
	at = at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	terms := check.ValueOf(check.ValueOf(was).RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms
	left := check.ValueOf(check.ValueOf(now).RequiredDuringSchedulingIgnoredDuringExecution).NodeSelectorTerms
	if len(terms) > 0 && len(terms) != len(left) {
		return field.ErrorList{
			field.Invalid(at, left, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	for i := range terms {
		errs = append(errs, check.Reject(!stricter(&left[i], &terms[i]), at.Index(i), left[i],
			"only additions are allowed (no mutations or deletions)")...)
	}
	return errs
}

// stricter reports whether a term begins with all requirements of the old one. An old term without requirements matches
// nothing, so a term with requirements would be less strict.
func stricter(t, old *corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions)+len(old.MatchFields) == 0 {
		return len(t.MatchExpressions)+len(t.MatchFields) == 0
	}
	return begins(t.MatchExpressions, old.MatchExpressions) && begins(t.MatchFields, old.MatchFields)
}

func begins(list, with []corev1.NodeSelectorRequirement) bool {
	return len(list) >= len(with) && (len(with) == 0 || apiequality.Semantic.DeepEqual(list[:len(with)], with))
}
