package autoscaling

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func horizontalPodAutoscalers() *entry.Resource {
	return &entry.Resource{
		Plural: "horizontalpodautoscalers", New: entry.New[autoscalingv2.HorizontalPodAutoscaler], Namespaced: true,
		ShortNames: []string{"hpa"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration, // HPAGeneration is on (V-011)
			Default:    withoutHPAAnnotations(entry.Default(defaultHorizontalPodAutoscaler)),
			Validate:   entry.ValidateChange(validateAutoscaler),
		},
		Subresources: entry.StatusOf(nil, validateAutoscalerStatus),
		Table:        autoscalerTable(),
	}
}

// horizontalPodAutoscalersV1 returns the entry of HorizontalPodAutoscaler in version v1. Its hooks receive objects of
// version v2, except Strategy.Default.
func horizontalPodAutoscalersV1() *entry.Resource {
	r := horizontalPodAutoscalers()
	r.New = entry.New[autoscalingv1.HorizontalPodAutoscaler]
	r.Storage = entry.Storage{
		Stored: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), ToStored: hpaToV2,
		FromStored: hpaFromV2,
	}
	r.Strategy.DefaultStored = r.Strategy.Default
	r.Strategy.Default = withoutHPAAnnotations(entry.Default(defaultHorizontalPodAutoscalerV1))
	return r
}

// withoutHPAAnnotations returns a hook that calls hook and then removes the annotations that hold fields of v2 in v1.
func withoutHPAAnnotations(hook func(runtime.Object)) func(runtime.Object) {
	return func(obj runtime.Object) {
		hook(obj)
		dropHPAAnnotations(obj)
	}
}

// defaultHorizontalPodAutoscaler sets minReplicas, a target of 80 % CPU utilization, and missing parts of a behavior.
func defaultHorizontalPodAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	check.SetDefault(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) == 0 {
		h.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultCPU)}
	}
	if b := h.Spec.Behavior; b != nil {
		check.SetDefault(&b.ScaleUp, autoscalingv2.HPAScalingRules{})
		check.SetDefault(&b.ScaleUp.StabilizationWindowSeconds, 0)
		defaultScalingRules(b.ScaleUp, []autoscalingv2.HPAScalingPolicy{
			{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15},
		})
		// The window for scaling down has no default, because it is a flag of the controller.
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

// defaultHorizontalPodAutoscalerV1 sets the defaults of autoscaling/v1. The target of 80 % is not among them: the
// object is stored as v2, so it gets the default of v2.
func defaultHorizontalPodAutoscalerV1(h *autoscalingv1.HorizontalPodAutoscaler) {
	check.SetDefault(&h.Spec.MinReplicas, 1)
}

func autoscalerTable() entry.Table {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Reference", spec["scaleTargetRef"]),
		entry.Text("Targets", spec["metrics"]),
		entry.Text("MinPods", spec["minReplicas"]),
		entry.Text("MaxPods", spec["maxReplicas"]),
		entry.Text("Replicas", autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()["currentReplicas"]),
	}, func(a *autoscalingv2.HorizontalPodAutoscaler) []any {
		least := entry.Unset
		if a.Spec.MinReplicas != nil {
			least = fmt.Sprint(*a.Spec.MinReplicas)
		}
		return []any{
			a.Spec.ScaleTargetRef.Kind + "/" + a.Spec.ScaleTargetRef.Name,
			metrics(a.Spec.Metrics, a.Status.CurrentMetrics),
			least, int64(a.Spec.MaxReplicas), int64(a.Status.CurrentReplicas),
		}
	})
}

// metrics prints each spec with the status of the same index. Names are not compared.
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

// shownResourceMetric prints percentages of the requests, or values if the target is an average value.
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
