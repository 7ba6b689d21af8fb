package resources

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func podMetrics(of MetricsSource) *entry.Resource {
	return &entry.Resource{
		Plural: "pods", New: entry.New[metricsv1beta1.PodMetrics], Namespaced: true,
		Served:  entry.Served{Verbs: []string{"get", "list"}},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Objects: entry.Objects{List: of.pods, NotFound: noPodMetrics}},
		Table: entry.Printed(metricsColumns(), func(m *metricsv1beta1.PodMetrics) []any {
			sum := corev1.ResourceList{}
			addUsage(sum, m.Containers)
			return metricsCells(m.Name, sum, m.Window.Duration)
		}),
	}
}

// noPodMetrics returns the error for a pod without metrics. For a pod that does not exist, the
// method pods returns the error of the core group's resource.
func noPodMetrics(namespace, name string) error { return noMetrics("podmetrics", namespace+"/"+name) }

// pods returns the metrics of one pod, or of a namespace.
func (of MetricsSource) pods(ctx context.Context, s entry.Server, namespace, name string) (out []entry.Object, err error) {
	list, err := objectsOf[*corev1.Pod](ctx, s, "pods", namespace, name)
	for _, p := range list {
		if m := of.measure(p, s); m != nil {
			out = append(out, m)
		}
	}
	return out, err
}

// measure returns the metrics of a pod, or nil if it has none.
func (of MetricsSource) measure(p *corev1.Pod, s entry.Server) *metricsv1beta1.PodMetrics {
	now := s.Now()
	m := of(p, now)
	if m == nil {
		return nil
	}
	m.SetGroupVersionKind(metricsv1beta1.SchemeGroupVersion.WithKind("PodMetrics"))
	m.ObjectMeta = metav1.ObjectMeta{
		Name: p.Name, Namespace: p.Namespace, Labels: p.Labels, CreationTimestamp: metav1.NewTime(now),
	}
	return m
}
