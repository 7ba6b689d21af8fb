package resources

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// MetricsSource measures a pod at a time. It sets Timestamp, Window and Containers, or returns nil if there is no
// measurement.
type MetricsSource func(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics

// Metrics returns the entries of metrics.k8s.io, which are served only if there is a source of metrics.
// --runtime-config does not affect them, because metrics-server serves the group in a cluster. Nothing is stored: the
// objects are made from the stored pods and nodes when they are read, as metrics-server makes them from kubelets'
// measurements (kubernetes-sigs/metrics-server pkg/api). A running pod with a measurement has metrics, with the pod's
// labels. Every node has the sum of the metrics of its pods. A GET of one pod's metrics decodes one pod.
func Metrics(of MetricsSource) []*Resource {
	all := entry.Group(metricsv1beta1.SchemeGroupVersion,
		nodeMetrics(of),
		podMetrics(of),
	)
	for _, r := range all {
		r.Singular = "" // as in metrics-server's discovery: kubectl then uses the kind
	}
	return all
}

// metricsColumns returns the columns of metrics-server (pkg/api: addPodMetricsToTable).
func metricsColumns() []entry.Column {
	return []entry.Column{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the resource"},
		{Name: "cpu", Type: "string", Format: "quantity"},
		{Name: "memory", Type: "string", Format: "quantity"},
		{Name: "Window", Type: "string", Format: "duration"},
	}
}

func metricsCells(name string, usage corev1.ResourceList, window time.Duration) []any {
	return []any{name, usage.Cpu().String(), usage.Memory().String(), window.String()}
}

// addUsage adds the usage of containers to a sum.
func addUsage(sum corev1.ResourceList, containers []metricsv1beta1.ContainerMetrics) {
	for _, c := range containers {
		for name, q := range c.Usage {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
}

// noMetrics returns metrics-server's error for an object without metrics. The error names the kind as the resource.
func noMetrics(resource, name string) error {
	return apierrors.NewNotFound(metricsv1beta1.Resource(resource), name)
}

// objectsOf returns one object of the core group, or those of a namespace, or of all if the namespace is empty.
func objectsOf[T entry.Object](
	ctx context.Context, s entry.Server, plural, namespace, name string,
) (out []T, err error) {
	resource := corev1.SchemeGroupVersion.WithResource(plural)
	if name != "" {
		o, err := s.Get(ctx, entry.Reference{Resource: resource, Namespace: namespace, Name: name})
		if err != nil {
			return nil, err
		}
		return []T{o.(T)}, nil
	}
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	err = s.List(ctx, resource, namespace, func(o entry.Object) { out = append(out, o.(T)) })
	return out, err
}
