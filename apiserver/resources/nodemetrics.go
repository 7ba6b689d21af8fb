package resources

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// metricsWindow is the time over which a node is measured: metrics-server's --metric-resolution in its manifest.
const metricsWindow = 15 * time.Second

func nodeMetrics(of MetricsSource) *entry.Resource {
	return &entry.Resource{
		Plural: "nodes", New: entry.New[metricsv1beta1.NodeMetrics],
		Served:  entry.Served{Verbs: []string{"get", "list"}},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Objects: entry.Objects{List: of.nodes, NotFound: noNodeMetrics}},
		Table: entry.Printed(metricsColumns(), func(m *metricsv1beta1.NodeMetrics) []any {
			return metricsCells(m.Name, m.Usage, m.Window.Duration)
		}),
	}
}

func noNodeMetrics(_, name string) error { return noMetrics("nodemetrics", name) }

// nodes returns the metrics of one node, or of all.
func (of MetricsSource) nodes(ctx context.Context, s entry.Server, _, name string) (out []entry.Object, err error) {
	list, err := objectsOf[*corev1.Node](ctx, s, "nodes", "", name)
	if err != nil {
		return nil, err
	}
	pods, err := objectsOf[*corev1.Pod](ctx, s, "pods", "", "")
	if err != nil {
		return nil, err
	}
	usage := map[string]corev1.ResourceList{}
	for _, n := range list {
		usage[n.Name] = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(0, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(0, resource.BinarySI)}
	}
	for _, p := range pods {
		if sum := usage[p.Spec.NodeName]; sum != nil {
			if m := of.measure(p, s); m != nil {
				addUsage(sum, m.Containers)
			}
		}
	}
	now := metav1.NewTime(s.Now())
	for _, n := range list {
		m := &metricsv1beta1.NodeMetrics{Timestamp: now, Window: metav1.Duration{Duration: metricsWindow}, Usage: usage[n.Name],
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels, CreationTimestamp: now}}
		m.SetGroupVersionKind(metricsv1beta1.SchemeGroupVersion.WithKind("NodeMetrics"))
		out = append(out, m)
	}
	return out, nil
}
