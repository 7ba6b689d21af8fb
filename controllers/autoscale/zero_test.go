package autoscale

import (
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// TestScaledToZero (V-088): the condition says whether the controller scaled the target to zero. If it did, it decides
// on the size again; if another client did, it does not.
func TestScaledToZero(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	external := autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType,
		External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "hits"}}}
	resource := autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU}}
	var o Options
	pass := func(least, replicas int32, held string, m autoscalingv2.MetricSpec) verdict {
		a := &autoscalingv2.HorizontalPodAutoscaler{}
		a.Generation = 7
		a.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: ptr.To(least), MaxReplicas: 5,
			Metrics: []autoscalingv2.MetricSpec{m}}
		if held != "" {
			a.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionStatus(held)},
			}
		}
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
			Status: autoscalingv1.ScaleStatus{Selector: "a=b"}}
		return decide(o.defaulted(), input{hpa: a, scale: scale}, memory{}, now)
	}
	reason := func(v verdict, kind autoscalingv2.HorizontalPodAutoscalerConditionType) string {
		for _, c := range v.status.Conditions {
			if c.Type == kind {
				return string(c.Status) + " " + c.Reason + ": " + c.Message
			}
		}
		return ""
	}
	for _, c := range []struct {
		about string
		least int32
		held  string
		m     autoscalingv2.MetricSpec
		wakes bool
	}{
		{"never scaled", 0, "", external, false},
		{"scaled by another client", 0, "False", external, false},
		{"scaled to zero", 0, "True", external, true},
		{"its metrics need pods now", 0, "True", resource, false},
		{"it must have replicas now", 1, "True", resource, true},
		{"no replicas, not held", 1, "False", resource, false},
	} {
		v := pass(c.least, 0, c.held, c.m)
		disabled := strings.HasPrefix(reason(v, autoscalingv2.ScalingActive), "False ScalingDisabled")
		if disabled == c.wakes {
			t.Errorf("%s: %v", c.about, v.status.Conditions)
		}
		if g := v.status.ObservedGeneration; g == nil || *g != 7 { // V-011
			t.Errorf("%s: observed generation %v", c.about, g)
		}
	}
	for _, c := range []struct {
		least, replicas int32
		m               autoscalingv2.MetricSpec
		want            string
	}{
		{0, 0, external, "True ScaledToZero: the HPA controller scaled the workload to zero"},
		{0, 2, external, "False NotScaledToZero: the HPA controller did not scale the workload to zero"},
		{0, 0, resource, "False NotScaledToZero: the HPA controller did not scale the workload to zero"},
		{1, 0, external, "False NotScaledToZero: the HPA controller did not scale the workload to zero"},
	} {
		v := pass(c.least, 3, "", c.m)
		v.rescale, v.replicas = true, c.replicas
		if got := reason(v.rescaled(nil), autoscalingv2.ScaledToZero); got != c.want {
			t.Errorf("to %d of at least %d: %q, want %q", c.replicas, c.least, got, c.want)
		}
	}

	// Without the feature gate HPAScaleToZero a target without replicas is left alone, and the condition isn't written.
	o.NeverToZero = true
	v := pass(0, 0, "True", external)
	if got := reason(v, autoscalingv2.ScalingActive); !strings.HasPrefix(got, "False ScalingDisabled") {
		t.Errorf("without the gate: %q", got)
	}
	v = pass(0, 3, "", external)
	v.rescale, v.replicas = true, 0
	if got := reason(v.rescaled(nil), autoscalingv2.ScaledToZero); got != "" {
		t.Errorf("without the gate: %q", got)
	}
}
