package autoscaling

import (
	"encoding/json"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// autoscaling/v1 has one metric, the utilization of CPU. All other fields of v2 are in these annotations of a v1
// object, and are read back when a v1 object is written (K pkg/apis/autoscaling/v1/conversion.go, annotations.go,
// helpers.go).
const (
	hpaMetrics        = "autoscaling.alpha.kubernetes.io/metrics"
	hpaCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics"
	hpaConditions     = "autoscaling.alpha.kubernetes.io/conditions"
	hpaBehavior       = "autoscaling.alpha.kubernetes.io/behavior"
)

// hpaAnnotations are not stored. The last two are not written any more.
var hpaAnnotations = []string{hpaMetrics, hpaCurrentMetrics, hpaConditions, hpaBehavior,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance"}

// defaultCPU is the default target of v1.
const defaultCPU = 80

// dropHPAAnnotations removes from a v2 object the annotations that only the conversion to v1 may write. Clients of v2
// can't set them either (K pkg/apis/autoscaling/v2/conversion.go).
func dropHPAAnnotations(obj runtime.Object) {
	if hpa, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler); ok {
		dropNames(hpa.Annotations)
	}
}

func dropNames(annotations map[string]string) {
	for _, name := range hpaAnnotations {
		delete(annotations, name)
	}
}

// hpaFromV2 converts the stored autoscaling/v2 to v1.
func hpaFromV2(obj runtime.Object) (runtime.Object, error) {
	if hpa, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler); ok {
		return hpa, nil
	}
	in, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, entry.CannotConvert(obj, "autoscaling/v1")
	}
	out, err := entry.Recast[autoscalingv1.HorizontalPodAutoscaler](in)
	if err != nil {
		return nil, err
	}
	hpa := out.(*autoscalingv1.HorizontalPodAutoscaler)
	hpa.Spec.TargetCPUUtilizationPercentage = cpuTarget(in.Spec.Metrics)
	hpa.Status.CurrentCPUUtilizationPercentage = cpuCurrent(in.Status.CurrentMetrics)
	dropNames(hpa.Annotations)
	return hpa, annotateHPA(hpa, in)
}

func isCPU(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU
}

// cpuTarget returns the target of the first CPU metric, even if it is not a utilization.
func cpuTarget(metrics []autoscalingv2.MetricSpec) *int32 {
	for i := range metrics {
		if isCPU(&metrics[i]) {
			return metrics[i].Resource.Target.AverageUtilization
		}
	}
	return nil
}

// cpuCurrent returns the value of the last status with a CPU utilization.
func cpuCurrent(metrics []autoscalingv2.MetricStatus) (percent *int32) {
	for _, m := range metrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU &&
			m.Resource.Current.AverageUtilization != nil {
			percent = m.Resource.Current.AverageUtilization
		}
	}
	return percent
}

// annotateHPA adds annotations for the fields that v1 does not have.
func annotateHPA(out *autoscalingv1.HorizontalPodAutoscaler, in *autoscalingv2.HorizontalPodAutoscaler) error {
	var others []autoscalingv1.MetricSpec
	for i := range in.Spec.Metrics {
		if m := &in.Spec.Metrics[i]; !isCPU(m) || m.Resource.Target.AverageUtilization == nil {
			others = append(others, autoscalingv1.MetricSpec{})
			if err := convertMetric(m, &others[len(others)-1], true, "target"); err != nil {
				return err
			}
		}
	}
	// The annotation also has the statuses of CPU utilization, because v1 has no field for their raw values.
	current := make([]autoscalingv1.MetricStatus, len(in.Status.CurrentMetrics))
	for i := range current {
		if err := convertMetric(&in.Status.CurrentMetrics[i], &current[i], true, "current"); err != nil {
			return err
		}
	}
	var scaling behavior
	if err := scaling.from(in.Spec.Behavior); err != nil {
		return err
	}
	for _, a := range []struct {
		name  string
		value any
		set   bool
	}{
		{hpaMetrics, others, len(others) > 0},
		{hpaCurrentMetrics, current, len(current) > 0},
		{hpaBehavior, scaling, in.Spec.Behavior != nil},
		{hpaConditions, in.Status.Conditions, len(in.Status.Conditions) > 0}, // v1 has the same JSON
	} {
		if !a.set {
			continue
		}
		data, err := json.Marshal(a.value)
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, a.name, string(data))
	}
	return nil
}

// hpaToV2 converts autoscaling/v1 to v2, which is stored.
func hpaToV2(obj runtime.Object) (runtime.Object, error) {
	if hpa, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler); ok {
		return hpa, nil
	}
	in, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler)
	if !ok {
		return nil, entry.CannotConvert(obj, "autoscaling/v2")
	}
	out, err := entry.Recast[autoscalingv2.HorizontalPodAutoscaler](in)
	if err != nil {
		return nil, err
	}
	hpa := out.(*autoscalingv2.HorizontalPodAutoscaler)
	hpa.Spec.Metrics = hpaSpecs(in.Annotations, in.Spec.TargetCPUUtilizationPercentage)
	hpa.Spec.Behavior = behaviorFromV1(in.Annotations[hpaBehavior])
	hpa.Status.CurrentMetrics = hpaStatuses(in.Annotations, in.Status.CurrentCPUUtilizationPercentage)
	hpa.Status.Conditions = fromAnnotation[autoscalingv2.HorizontalPodAutoscalerCondition](in.Annotations, hpaConditions)
	dropNames(hpa.Annotations)
	return hpa, nil
}

// fromAnnotation decodes a list. A list that is malformed, or has a quantity that takes too long to parse, counts as
// missing.
func fromAnnotation[T any](annotations map[string]string, name string) []T {
	text := annotations[name]
	tokens := json.NewDecoder(strings.NewReader(text))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if err != nil {
			break
		}
		if s, ok := token.(string); ok && invalid.LongNumber(strings.TrimSpace(s)) {
			return nil
		}
		if n, ok := token.(json.Number); ok && invalid.LongNumber(n.String()) {
			return nil
		}
	}
	var list []T
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	return list
}

func cpuMetric(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

// hpaSpecs returns the metrics in the annotation, and then CPU. If there is no metric, it returns CPU at 80 %.
func hpaSpecs(annotations map[string]string, cpu *int32) []autoscalingv2.MetricSpec {
	specs := metricsFromV1[autoscalingv1.MetricSpec, autoscalingv2.MetricSpec](annotations, hpaMetrics, "target")
	for i := range specs {
		setTargetTypes(&specs[i])
	}
	if cpu != nil {
		specs = append(specs, cpuMetric(*cpu))
	}
	if len(specs) == 0 {
		specs = append(specs, cpuMetric(defaultCPU))
	}
	return specs
}

// hpaStatuses returns the statuses in the annotation, which have more fields than v1. Without them it returns the
// status of CPU.
func hpaStatuses(annotations map[string]string, cpu *int32) []autoscalingv2.MetricStatus {
	statuses := metricsFromV1[autoscalingv1.MetricStatus, autoscalingv2.MetricStatus](
		annotations, hpaCurrentMetrics, "current")
	if statuses == nil && cpu != nil {
		statuses = append(statuses, autoscalingv2.MetricStatus{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU,
				Current: autoscalingv2.MetricValueStatus{AverageUtilization: cpu}}})
	}
	return statuses
}

// metricsFromV1 converts a list in an annotation. If a metric can't be converted, the list counts as malformed.
func metricsFromV1[V1, V2 any](annotations map[string]string, name, values string) (list []V2) {
	for _, m := range fromAnnotation[V1](annotations, name) {
		var metric V2
		if convertMetric(&m, &metric, false, values) != nil {
			return nil
		}
		list = append(list, metric)
	}
	return list
}
