package autoscaling

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func autoscalerColumns() []entry.Column {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Reference", spec["scaleTargetRef"]),
		entry.Text("Targets", spec["metrics"]),
		entry.Text("MinPods", spec["minReplicas"]),
		entry.Text("MaxPods", spec["maxReplicas"]),
		entry.Text("Replicas", autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()["currentReplicas"]),
		entry.AgeColumn,
	}
}

func autoscalerCells(a *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	least := entry.Unset
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
		entry.AgeOf(&a.ObjectMeta, now),
	}
}

// metrics pairs specs and statuses by their index, not by name.
func metrics(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		return entry.None
	}
	all := make([]string, 0, len(specs))
	for i := range specs {
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		all = append(all, shownMetric(&specs[i], &status))
	}
	return entry.Shorten(all, 2, ", ")
}

func shownMetric(spec *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) string {
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
		return spec.Resource.Name.String() + ": " + shownResourceMetric(&spec.Resource.Target, current)
	case spec.Type == autoscalingv2.ContainerResourceMetricSourceType && spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		return spec.ContainerResource.Name.String() + ": " + shownResourceMetric(&spec.ContainerResource.Target, current)
	}
	return "<unknown type>"
}

func valueMetric(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	measured := entry.Unknown
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
	measured := entry.Unknown
	if current != nil {
		measured = current.AverageValue.String()
	}
	return measured + "/" + target.AverageValue.String()
}

// shownResourceMetric prints a percentage of the requests, unless the target is a value.
func shownResourceMetric(target *autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return averageMetric(target, current)
	}
	measured, wanted := entry.Unknown, "<auto>"
	if current != nil && current.AverageUtilization != nil {
		measured = fmt.Sprintf("%d%%", *current.AverageUtilization)
	}
	if target.AverageUtilization != nil {
		wanted = fmt.Sprintf("%d%%", *target.AverageUtilization)
	}
	return measured + "/" + wanted
}
