package defaults

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// HorizontalPodAutoscaler keeps at least one pod and aims at 80 % of the requested CPU; a
// behaviour that is given in part is completed.
func HorizontalPodAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	set(&h.Spec.MinReplicas, 1)
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
		set(&b.ScaleUp, autoscalingv2.HPAScalingRules{})
		set(&b.ScaleUp.StabilizationWindowSeconds, 0)
		scalingRules(b.ScaleUp, []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
		// The window for scaling down is a flag of the controller's, so it stays open.
		set(&b.ScaleDown, autoscalingv2.HPAScalingRules{})
		scalingRules(b.ScaleDown, []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
	}
}

func scalingRules(r *autoscalingv2.HPAScalingRules, policies []autoscalingv2.HPAScalingPolicy) {
	set(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
}

// HorizontalPodAutoscalerV1 is what autoscaling/v1 fills in by itself; the aim of 80 % shows in
// this version because the object is stored as v2, whose defaults it gets too.
func HorizontalPodAutoscalerV1(h *autoscalingv1.HorizontalPodAutoscaler) { set(&h.Spec.MinReplicas, 1) }
