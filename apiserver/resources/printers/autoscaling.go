package printers

import (
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

func autoscalerColumns() []Column {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Reference", spec["scaleTargetRef"]),
		text("Targets", spec["metrics"]),
		text("MinPods", spec["minReplicas"]),
		text("MaxPods", spec["maxReplicas"]),
		text("Replicas", autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()["currentReplicas"]),
		ageColumn,
	}
}

func autoscalerCells(a *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	least := unset
	if a.Spec.MinReplicas != nil {
		least = fmt.Sprint(*a.Spec.MinReplicas)
	}
	return []any{
		a.Name,
		a.Spec.ScaleTargetRef.Kind + "/" + a.Spec.ScaleTargetRef.Name,
		metrics(a.Spec.Metrics, a.Status.CurrentMetrics),
		least,
		int64(a.Spec.MaxReplicas),
		int64(a.Status.CurrentReplicas),
		age(&a.ObjectMeta, now),
	}
}

// metrics pairs specs and statuses by their place in the lists, not by name.
func metrics(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		return none
	}
	all := make([]string, 0, len(specs))
	for i := range specs {
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		all = append(all, metric(&specs[i], &status))
	}
	return shorten(all, 2, ", ")
}

func metric(spec *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) string {
	var current *autoscalingv2.MetricValueStatus
	switch {
	case spec.Type == autoscalingv2.ExternalMetricSourceType && spec.External != nil:
		if status.External != nil {
			current = &status.External.Current
		}
		return valueMetric(&spec.External.Target, current)
	case spec.Type == autoscalingv2.ObjectMetricSourceType && spec.Object != nil:
		if status.Object != nil {
			current = &status.Object.Current
		}
		return valueMetric(&spec.Object.Target, current)
	case spec.Type == autoscalingv2.PodsMetricSourceType && spec.Pods != nil:
		if status.Pods != nil {
			current = &status.Pods.Current
		}
		return averageMetric(&spec.Pods.Target, current)
	case spec.Type == autoscalingv2.ResourceMetricSourceType && spec.Resource != nil:
		if status.Resource != nil {
			current = &status.Resource.Current
		}
		return spec.Resource.Name.String() + ": " + resourceMetric(&spec.Resource.Target, current)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		return spec.ContainerResource.Name.String() + ": " + resourceMetric(&spec.ContainerResource.Target, current)
	}
	return "<unknown type>"
}

func valueMetric(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	measured := unknown
	if target.AverageValue == nil {
		if current != nil {
			measured = current.Value.String()
		}
		return measured + "/" + target.Value.String()
	}
	if current != nil && current.AverageValue != nil {
		measured = current.AverageValue.String()
	}
	return measured + "/" + target.AverageValue.String() + " (avg)"
}

func averageMetric(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	measured := unknown
	if current != nil {
		measured = current.AverageValue.String()
	}
	return measured + "/" + target.AverageValue.String()
}

// resourceMetric shows a share of what the pods request unless a value is the target.
func resourceMetric(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return averageMetric(target, current)
	}
	measured, wanted := unknown, "<auto>"
	if current != nil && current.AverageUtilization != nil {
		measured = fmt.Sprintf("%d%%", *current.AverageUtilization)
	}
	if target.AverageUtilization != nil {
		wanted = fmt.Sprintf("%d%%", *target.AverageUtilization)
	}
	return measured + "/" + wanted
}

func scaleColumns() []Column {
	// The name has no format here, unlike everywhere else.
	return []Column{
		text("Name", objectMeta["name"]),
		integer("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		integer("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]),
		ageColumn,
	}
}

func scaleCells(s *autoscalingv1.Scale, now time.Time) []any {
	return []any{s.Name, int64(s.Spec.Replicas), int64(s.Status.Replicas), age(&s.ObjectMeta, now)}
}
