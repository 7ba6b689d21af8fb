package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// Tolerates reports whether each taint of the effect is tolerated. Comparisons are off by default.
func Tolerates(tolerations []corev1.Toleration, taints []corev1.Taint, effect corev1.TaintEffect) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == effect && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool {
			return by.ToleratesTaint(klog.Logger{}, &t, false)
		})
	})
}
