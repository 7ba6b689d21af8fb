package autoscaling

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var metricTypes = []autoscalingv2.MetricSourceType{autoscalingv2.ContainerResourceMetricSourceType,
	autoscalingv2.ExternalMetricSourceType,
	autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType}

// metric requires that only the source of the metric's type is set. If several are set, it validates the content of the
// first one.
func metric(m *autoscalingv2.MetricSpec, tolerate bool, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(m.Type != "", at.Child("type"), "must specify a metric source type")...)
	known := slices.Contains(metricTypes, m.Type)
	errs = append(errs, check.OneOf(m.Type, at.Child("type"), metricTypes)...)
	sources := []struct {
		kind     autoscalingv2.MetricSourceType
		name     string
		given    bool
		validate func(at *field.Path) field.ErrorList
	}{
		{autoscalingv2.ObjectMetricSourceType, "object", m.Object != nil, func(at *field.Path) field.ErrorList {
			return objectMetric(m.Object, tolerate, at)
		}},
		{autoscalingv2.ExternalMetricSourceType, "external", m.External != nil, func(at *field.Path) field.ErrorList {
			return externalMetric(m.External, at)
		}},
		{autoscalingv2.PodsMetricSourceType, "pods", m.Pods != nil, func(at *field.Path) field.ErrorList {
			return podsMetric(m.Pods, at)
		}},
		{autoscalingv2.ResourceMetricSourceType, "resource", m.Resource != nil, func(at *field.Path) field.ErrorList {
			return resourceMetric(m.Resource, at)
		}},
		{
			autoscalingv2.ContainerResourceMetricSourceType, "containerResource", m.ContainerResource != nil,
			func(at *field.Path) field.ErrorList { return containerMetric(m.ContainerResource, at) },
		},
	}
	var present, others []string
	for _, s := range sources {
		if !s.given {
			continue
		}
		if present = append(present, s.name); len(present) == 1 {
			errs = append(errs, s.validate(at.Child(s.name))...)
		}
		if s.kind != m.Type {
			others = append(others, s.name)
		}
	}
	for _, s := range sources {
		if s.kind == m.Type && !s.given {
			errs = append(errs, field.Required(at.Child(s.name), "must populate information for the given metric source"))
		}
	}
	if !known {
		errs = append(errs, check.OneOf(m.Type, at.Child("type"), metricTypes)...)
	}
	if len(present) != 1 {
		slices.Sort(others)
		for _, name := range others {
			errs = append(errs, field.Forbidden(at.Child(name), "must populate the given metric source only"))
		}
	}
	return errs
}

func metricName(id autoscalingv2.MetricIdentifier, at *field.Path) field.ErrorList {
	errs := check.Present(id.Name != "", at.Child("name"), "must specify a metric name")
	return append(errs, check.PathSegment(id.Name, at.Child("name"))...)
}

func metricTarget(t *autoscalingv2.MetricTarget, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(t.Type != "", at.Child("type"), "must specify a metric target type")...)
	if t.Type != autoscalingv2.UtilizationMetricType && t.Type != autoscalingv2.ValueMetricType &&
		t.Type != autoscalingv2.AverageValueMetricType {
		errs = append(errs, field.Invalid(at.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue"))
	}
	errs = append(errs, check.Reject(t.Value != nil && t.Value.Sign() != 1, at.Child("value"), t.Value,
		"must be positive")...)
	errs = append(errs, check.Reject(t.AverageValue != nil && t.AverageValue.Sign() != 1, at.Child("averageValue"),
		t.AverageValue, "must be positive")...)
	errs = append(errs, check.Reject(t.AverageUtilization != nil && *t.AverageUtilization < 1,
		at.Child("averageUtilization"), t.AverageUtilization, "must be greater than 0")...)
	return errs
}

func objectMetric(m *autoscalingv2.ObjectMetricSource, tolerate bool, at *field.Path) field.ErrorList {
	errs := scaleTarget(m.DescribedObject, true, tolerate, at.Child("describedObject"))
	errs = append(errs, metricName(m.Metric, at.Child("metric"))...)
	errs = append(errs, metricTarget(&m.Target, at.Child("target"))...)
	return append(errs, check.Present(m.Target.Value != nil || m.Target.AverageValue != nil,
		at.Child("target", "averageValue"), "must set either a target value or averageValue")...)
}

func externalMetric(m *autoscalingv2.ExternalMetricSource, at *field.Path) field.ErrorList {
	errs := append(metricName(m.Metric, at.Child("metric")), metricTarget(&m.Target, at.Child("target"))...)
	errs = append(errs, check.Present(m.Target.Value != nil || m.Target.AverageValue != nil,
		at.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target")...)
	return append(errs, check.Forbid(m.Target.Value != nil && m.Target.AverageValue != nil, at.Child("target", "value"),
		"may not set both a target value for metric and a per-pod target")...)
}

func podsMetric(m *autoscalingv2.PodsMetricSource, at *field.Path) field.ErrorList {
	errs := append(metricName(m.Metric, at.Child("metric")), metricTarget(&m.Target, at.Child("target"))...)
	return append(errs, check.Present(m.Target.AverageValue != nil, at.Child("target", "averageValue"),
		"must specify a positive target averageValue")...)
}

func resourceMetric(m *autoscalingv2.ResourceMetricSource, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(m.Name != "", at.Child("name"), "must specify a resource name")...)
	return append(errs, utilizationTarget(&m.Target, at.Child("target"))...)
}

func containerMetric(m *autoscalingv2.ContainerResourceMetricSource, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(m.Name != "", at.Child("name"), "must specify a resource name")...)
	errs = append(errs, check.NonEmpty(m.Name, at.Child("name"), check.ContainerResourceName)...)
	errs = append(errs, check.Present(m.Container != "", at.Child("container"), "must specify a container")...)
	errs = append(errs, check.NonEmpty(m.Container, at.Child("container"), check.DNSLabel)...)
	return append(errs, utilizationTarget(&m.Target, at.Child("target"))...)
}

func utilizationTarget(t *autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	errs := metricTarget(t, at)
	errs = append(errs, check.Present(t.AverageUtilization != nil || t.AverageValue != nil, at.Child("averageUtilization"),
		"must set either a target raw value or a target utilization")...)
	return append(errs, check.Forbid(t.AverageUtilization != nil && t.AverageValue != nil, at.Child("averageValue"),
		"may not set both a target raw value and a target utilization")...)
}
