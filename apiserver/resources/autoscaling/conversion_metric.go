package autoscaling

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func targetType(set bool, yes, no autoscalingv2.MetricTargetType) autoscalingv2.MetricTargetType {
	if set {
		return yes
	}
	return no
}

func metricToV1(m *autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	out := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv1.ObjectMetricSource{
			Target:     autoscalingv1.CrossVersionObjectReference(o.DescribedObject),
			MetricName: o.Metric.Name, Selector: o.Metric.Selector,
			TargetValue: check.ValueOf(o.Target.Value), AverageValue: o.Target.AverageValue}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv1.PodsMetricSource{
			MetricName: p.Metric.Name, Selector: p.Metric.Selector, TargetAverageValue: check.ValueOf(p.Target.AverageValue)}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv1.ResourceMetricSource{Name: r.Name,
			TargetAverageUtilization: r.Target.AverageUtilization, TargetAverageValue: r.Target.AverageValue}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{Name: c.Name, Container: c.Container,
			TargetAverageUtilization: c.Target.AverageUtilization, TargetAverageValue: c.Target.AverageValue}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv1.ExternalMetricSource{MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector,
			TargetValue: e.Target.Value, TargetAverageValue: e.Target.AverageValue}
	}
	return out
}

func metricFromV1(m *autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	const value, average, utilization = autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType, autoscalingv2.UtilizationMetricType
	out := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target),
			Metric:          autoscalingv2.MetricIdentifier{Name: o.MetricName, Selector: o.Selector},
			Target: autoscalingv2.MetricTarget{Type: targetType(o.AverageValue == nil, value, average),
				AverageValue: o.AverageValue}}
		// In v1 the value is not a pointer. If there is an average value, the value zero means that it is missing
		// (Convert_v1_ObjectMetricSource_To_autoscaling_ObjectMetricSource, since v1.36).
		if o.AverageValue == nil || !o.TargetValue.IsZero() {
			out.Object.Target.Value = &o.TargetValue
		}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: p.MetricName, Selector: p.Selector},
			Target: autoscalingv2.MetricTarget{Type: average, AverageValue: &p.TargetAverageValue}}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv2.ResourceMetricSource{Name: r.Name, Target: autoscalingv2.MetricTarget{
			Type:         targetType(r.TargetAverageUtilization == nil, average, utilization),
			AverageValue: r.TargetAverageValue, AverageUtilization: r.TargetAverageUtilization}}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: c.Name, Container: c.Container,
			Target: autoscalingv2.MetricTarget{
				Type:         targetType(c.TargetAverageUtilization == nil, average, utilization),
				AverageValue: c.TargetAverageValue, AverageUtilization: c.TargetAverageUtilization}}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: e.MetricName, Selector: e.MetricSelector},
			Target: autoscalingv2.MetricTarget{Type: targetType(e.TargetValue == nil, average, value),
				Value: e.TargetValue, AverageValue: e.TargetAverageValue}}
	}
	return out
}

func metricStatusToV1(m *autoscalingv2.MetricStatus) autoscalingv1.MetricStatus {
	out := autoscalingv1.MetricStatus{Type: autoscalingv1.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv1.ObjectMetricStatus{
			Target:     autoscalingv1.CrossVersionObjectReference(o.DescribedObject),
			MetricName: o.Metric.Name, Selector: o.Metric.Selector,
			CurrentValue: check.ValueOf(o.Current.Value), AverageValue: o.Current.AverageValue}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv1.PodsMetricStatus{
			MetricName: p.Metric.Name, Selector: p.Metric.Selector, CurrentAverageValue: check.ValueOf(p.Current.AverageValue)}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv1.ResourceMetricStatus{Name: r.Name,
			CurrentAverageUtilization: r.Current.AverageUtilization, CurrentAverageValue: check.ValueOf(r.Current.AverageValue)}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv1.ContainerResourceMetricStatus{Name: c.Name, Container: c.Container,
			CurrentAverageUtilization: c.Current.AverageUtilization, CurrentAverageValue: check.ValueOf(c.Current.AverageValue)}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv1.ExternalMetricStatus{MetricName: e.Metric.Name, MetricSelector: e.Metric.Selector,
			CurrentValue: check.ValueOf(e.Current.Value), CurrentAverageValue: e.Current.AverageValue}
	}
	return out
}

func metricStatusFromV1(m *autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	out := autoscalingv2.MetricStatus{Type: autoscalingv2.MetricSourceType(m.Type)}
	if o := m.Object; o != nil {
		out.Object = &autoscalingv2.ObjectMetricStatus{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target),
			Metric:          autoscalingv2.MetricIdentifier{Name: o.MetricName, Selector: o.Selector},
			Current:         autoscalingv2.MetricValueStatus{Value: &o.CurrentValue, AverageValue: o.AverageValue}}
	}
	if p := m.Pods; p != nil {
		out.Pods = &autoscalingv2.PodsMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: p.MetricName, Selector: p.Selector},
			Current: autoscalingv2.MetricValueStatus{AverageValue: &p.CurrentAverageValue}}
	}
	if r := m.Resource; r != nil {
		out.Resource = &autoscalingv2.ResourceMetricStatus{Name: r.Name, Current: autoscalingv2.MetricValueStatus{
			AverageValue: &r.CurrentAverageValue, AverageUtilization: r.CurrentAverageUtilization}}
	}
	if c := m.ContainerResource; c != nil {
		out.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: c.Name, Container: c.Container,
			Current: autoscalingv2.MetricValueStatus{
				AverageValue: &c.CurrentAverageValue, AverageUtilization: c.CurrentAverageUtilization}}
	}
	if e := m.External; e != nil {
		out.External = &autoscalingv2.ExternalMetricStatus{
			Metric:  autoscalingv2.MetricIdentifier{Name: e.MetricName, Selector: e.MetricSelector},
			Current: autoscalingv2.MetricValueStatus{Value: &e.CurrentValue, AverageValue: e.CurrentAverageValue}}
	}
	return out
}

// The annotation for a behaviour has the field names of upstream's internal Go type, which has no JSON names. It is
// decoded case-insensitively, so both spellings are accepted.
type (
	behavior struct{ ScaleUp, ScaleDown *scalingRules }

	scalingRules struct {
		StabilizationWindowSeconds *int32
		SelectPolicy               *autoscalingv2.ScalingPolicySelect
		Policies                   []scalingPolicy
		Tolerance                  *resource.Quantity
	}

	scalingPolicy struct {
		Type                 autoscalingv2.HPAScalingPolicyType
		Value, PeriodSeconds int32
	}
)

func behaviorToV1(b *autoscalingv2.HorizontalPodAutoscalerBehavior) *behavior {
	if b == nil {
		return nil
	}
	return &behavior{ScaleUp: rulesToV1(b.ScaleUp), ScaleDown: rulesToV1(b.ScaleDown)}
}

func rulesToV1(r *autoscalingv2.HPAScalingRules) *scalingRules {
	if r == nil {
		return nil
	}
	out := &scalingRules{
		StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance,
	}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, scalingPolicy(p))
	}
	return out
}

// behaviorFromV1 decodes the annotation. It returns nil if the annotation is empty or malformed.
func behaviorFromV1(annotation string) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	var b autoscalingv2.HorizontalPodAutoscalerBehavior
	if json.Unmarshal([]byte(annotation), &b) != nil || b == (autoscalingv2.HorizontalPodAutoscalerBehavior{}) {
		return nil
	}
	return &b
}
