package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// defaultHorizontalPodAutoscaler sets at least one replica and a target of 80 % CPU utilization, and completes a
// partial behaviour.
func defaultHorizontalPodAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	check.SetDefault(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) == 0 {
		percent := int32(80)
		h.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
			},
		}}
	}
	if b := h.Spec.Behavior; b != nil {
		check.SetDefault(&b.ScaleUp, autoscalingv2.HPAScalingRules{})
		check.SetDefault(&b.ScaleUp.StabilizationWindowSeconds, 0)
		defaultScalingRules(b.ScaleUp, []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
		// The window for scaling down is a flag of the controller, so it has no default.
		check.SetDefault(&b.ScaleDown, autoscalingv2.HPAScalingRules{})
		defaultScalingRules(b.ScaleDown, []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
	}
}

func defaultScalingRules(r *autoscalingv2.HPAScalingRules, policies []autoscalingv2.HPAScalingPolicy) {
	check.SetDefault(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
}

// defaultHorizontalPodAutoscalerV1 sets the defaults of autoscaling/v1. The target of 80 % is visible in v1 because the
// object is stored as v2 and has its defaults.
func defaultHorizontalPodAutoscalerV1(h *autoscalingv1.HorizontalPodAutoscaler) {
	check.SetDefault(&h.Spec.MinReplicas, 1)
}
