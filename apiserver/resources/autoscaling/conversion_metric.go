package autoscaling

import (
	"encoding/json"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// metricFields are the fields of a metric in v1, with their paths in v2. In v2 the values of a metric are in one field,
// "target" in a MetricSpec and "current" in a MetricStatus. Here it is an asterisk. In v1 each value has a field, whose
// name begins with that word. No metric has two fields of v1 with the same path.
var metricFields = []struct{ v1, v2 string }{
	{"name", "name"}, {"container", "container"}, {"target", "describedObject"}, {"metricName", "metric.name"},
	{"selector", "metric.selector"}, {"metricSelector", "metric.selector"},
	{"*Value", "*.value"}, {"averageValue", "*.averageValue"}, {"*AverageValue", "*.averageValue"},
	{"*AverageUtilization", "*.averageUtilization"},
}

// convertMetric sets to, a metric of one version, to a metric of the other version. Fields that to does not have are
// ignored. If there is no value in v2, v1 has the value zero.
func convertMetric(from, to any, toV1 bool, values string) error {
	metric, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		return err
	}
	for source, value := range metric {
		fields, ok := value.(map[string]any)
		if !ok {
			continue // the type
		}
		renamed := map[string]any{}
		for _, f := range metricFields {
			old, name := f.v1, f.v2
			if toV1 {
				old, name = f.v2, f.v1
			}
			value, ok, err := unstructured.NestedFieldNoCopy(fields, pathOf(old, values)...)
			if ok && err == nil {
				err = unstructured.SetNestedField(renamed, value, pathOf(name, values)...)
			}
			if err != nil {
				return err
			}
		}
		metric[source] = renamed
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(metric, to)
}

func pathOf(path, values string) []string {
	return strings.Split(strings.ReplaceAll(path, "*", values), ".")
}

// setTargetTypes sets the types of targets, which v1 does not have.
func setTargetTypes(m *autoscalingv2.MetricSpec) {
	if m.Object != nil {
		t := &m.Object.Target
		t.Type = autoscalingv2.ValueMetricType
		if t.AverageValue != nil {
			t.Type = autoscalingv2.AverageValueMetricType
			// In v1 the value is not a pointer. If there is an average value, the value zero means that it is missing
			// (Convert_v1_ObjectMetricSource_To_autoscaling_ObjectMetricSource, since v1.36).
			if t.Value.IsZero() {
				t.Value = nil
			}
		}
	}
	for _, t := range otherTargets(m) {
		switch {
		case t.AverageUtilization != nil:
			t.Type = autoscalingv2.UtilizationMetricType
		case t.Value != nil:
			t.Type = autoscalingv2.ValueMetricType
		default:
			t.Type = autoscalingv2.AverageValueMetricType
		}
	}
}

func otherTargets(m *autoscalingv2.MetricSpec) (targets []*autoscalingv2.MetricTarget) {
	if m.Pods != nil {
		targets = append(targets, &m.Pods.Target)
	}
	if m.Resource != nil {
		targets = append(targets, &m.Resource.Target)
	}
	if m.ContainerResource != nil {
		targets = append(targets, &m.ContainerResource.Target)
	}
	if m.External != nil {
		targets = append(targets, &m.External.Target)
	}
	return targets
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

// from sets b to a behavior of v2, which has the same field names except for the case of the first letter.
func (b *behavior) from(v2 *autoscalingv2.HorizontalPodAutoscalerBehavior) error {
	data, err := json.Marshal(v2)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, b)
}

// behaviorFromV1 decodes the annotation. It returns nil if the annotation is empty or malformed.
func behaviorFromV1(annotation string) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	var b autoscalingv2.HorizontalPodAutoscalerBehavior
	if json.Unmarshal([]byte(annotation), &b) != nil || b == (autoscalingv2.HorizontalPodAutoscalerBehavior{}) {
		return nil
	}
	return &b
}
