package metrics

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Source measures a pod at a time. It sets Timestamp, Window and Containers; nil means that there is no measurement.
type Source func(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics

// Resources returns the entries of the group's kinds, one in each line.
func Resources(of Source) []*entry.Resource {
	all := entry.Group(metricsv1beta1.SchemeGroupVersion,
		nodeMetrics(of),
		podMetrics(of),
	)
	for _, r := range all {
		r.Singular = "" // as metrics-server's discovery: kubectl uses the kind
	}
	return all
}

// columns are those of metrics-server (pkg/api: addPodMetricsToTable).
func columns() []entry.Column {
	return []entry.Column{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the resource"},
		{Name: "cpu", Type: "string", Format: "quantity"},
		{Name: "memory", Type: "string", Format: "quantity"},
		{Name: "Window", Type: "string", Format: "duration"},
	}
}

func cells(name string, usage corev1.ResourceList, window time.Duration) []any {
	return []any{name, usage.Cpu().String(), usage.Memory().String(), window.String()}
}

// add adds the usage of containers to a sum.
func add(sum corev1.ResourceList, containers []metricsv1beta1.ContainerMetrics) {
	for _, c := range containers {
		for name, q := range c.Usage {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
}

// notFound is metrics-server's error for an object without metrics: its resource is named by the kind.
func notFound(resource, name string) error {
	return apierrors.NewNotFound(metricsv1beta1.Resource(resource), name)
}
