package defaults

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// PriorityClass preempts.
func PriorityClass(c *schedulingv1.PriorityClass) {
	set(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
}

// RuntimeClass rounds its overhead.
func RuntimeClass(c *nodev1.RuntimeClass) {
	if c.Overhead != nil {
		round(c.Overhead.PodFixed)
	}
}

// TokenRequest asks for a token that lasts an hour.
func TokenRequest(r *authenticationv1.TokenRequest) {
	const hour = 60 * 60
	set(&r.Spec.ExpirationSeconds, hour)
}
