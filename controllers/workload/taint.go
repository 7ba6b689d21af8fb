package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Tolerates reports whether each taint of the effect is tolerated.
func Tolerates(tolerations []corev1.Toleration, taints []corev1.Taint, effect corev1.TaintEffect) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == effect && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool { return covers(by, t) })
	})
}

// covers reports whether the toleration is one of the taint
// (k8s.io/api/core/v1: ToleratesTaint, without comparisons, which are off by default).
func covers(by corev1.Toleration, t corev1.Taint) bool {
	switch {
	case by.Effect != "" && by.Effect != t.Effect, by.Key != "" && by.Key != t.Key:
		return false
	case by.Operator == corev1.TolerationOpExists:
		return true
	}
	return (by.Operator == "" || by.Operator == corev1.TolerationOpEqual) && by.Value == t.Value
}
