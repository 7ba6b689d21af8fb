package resources

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// MetricsSource measures a pod at a time. It sets Timestamp, Window and Containers; nil means that there is no
// measurement.
type MetricsSource func(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics

// Metrics returns the entries of metrics.k8s.io, which are served only if there is something that measures pods.
// --runtime-config does not concern them: in a cluster metrics-server serves the group. Nothing of them is stored: the
// objects are made of the stored pods and nodes when they are read, as metrics-server makes them of what kubelets
// measure (kubernetes-sigs/metrics-server pkg/api). A running pod that is measured has metrics, with the pod's labels;
// every node has the sum over the pods that are assigned to it. Reading the metrics of one pod decodes one pod.
func Metrics(of MetricsSource) []*Resource {
	all := entry.Group(metricsv1beta1.SchemeGroupVersion,
		nodeMetrics(of),
		podMetrics(of),
	)
	for _, r := range all {
		r.Singular = "" // as metrics-server's discovery: kubectl uses the kind
	}
	return all
}

// metricsColumns are those of metrics-server (pkg/api: addPodMetricsToTable).
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

// noMetrics is metrics-server's error for an object without metrics: its resource is named by the kind.
func noMetrics(resource, name string) error {
	return apierrors.NewNotFound(metricsv1beta1.Resource(resource), name)
}

// objectsOf returns one object of the core group, or those of a namespace, of all if it is empty.
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
