package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DefaultTolerations is DefaultTolerationSeconds. It adds tolerations to pods, so that they stay for five minutes on a
// node that is not ready or unreachable (K plugin/pkg/admission/defaulttolerationseconds).
type DefaultTolerations struct{}

const defaultTolerationSeconds = int64(300)

// Admit implements Mutator.
func (DefaultTolerations) Admit(_ context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Subresource != "" || a.Operation != Create && a.Operation != Update {
		return nil
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !tolerates(pod.Spec.Tolerations, key) {
			seconds := defaultTolerationSeconds
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
		}
	}
	return nil
}

// tolerates reports whether the pod has a NoExecute toleration for the taint's key, or for each key.
func tolerates(list []corev1.Toleration, key string) bool {
	return slices.ContainsFunc(list, func(t corev1.Toleration) bool {
		return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
	})
}
