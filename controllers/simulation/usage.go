package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/controllers/workload"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// AnnotationUsage is the usage of each container of a pod, as a list like "cpu=250m,memory=64Mi", or "cpu=80%" of what
// it requests. "sidecar/cpu=10m" is for one container, and takes precedence. The default is the container's requests,
// or 0. Entries that can't be parsed are ignored.
const AnnotationUsage = "kubecascade.io/simulate-usage"

// window is metrics-server's --metric-resolution in its manifest: the time over which a pod is measured.
const window = 15 * time.Second

// measured are the resources that metrics-server reports.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// Metrics returns the usage of a simulated pod at a time: only Timestamp, Window and Containers are set. It is nil for
// a pod of which no container runs. A container is measured from its start on; it has no first scrape to wait for.
func Metrics(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	if p.Status.Phase != corev1.PodRunning {
		return nil
	}
	at := now.Truncate(time.Second)
	m := &metricsv1beta1.PodMetrics{Timestamp: metav1.NewTime(at), Window: metav1.Duration{Duration: window}}
	usage := parseUsage(p.Annotations[AnnotationUsage])
	for _, c := range workload.LastingContainers(p) {
		s := statusOf(p, c.Name)
		if s == nil || s.State.Running == nil {
			continue
		}
		m.Window.Duration = max(0, min(m.Window.Duration, at.Sub(s.State.Running.StartedAt.Time)))
		used := corev1.ResourceList{}
		for _, r := range measured {
			used[r] = usage.of(&c, r)
		}
		m.Containers = append(m.Containers, metricsv1beta1.ContainerMetrics{Name: c.Name, Usage: used})
	}
	if m.Containers == nil {
		return nil
	}
	return m
}

// usage has the values of AnnotationUsage, by "container/resource", or "/resource" for each container.
type usage map[string]string

func parseUsage(text string) usage {
	out := usage{}
	for entry := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
		if !strings.Contains(name, "/") {
			name = "/" + name
		}
		out[name] = value
	}
	return out
}

// wrongUsage returns which entry of AnnotationUsage is ignored; empty if none is.
func wrongUsage(value string) string {
	for entry := range strings.SplitSeq(value, ",") {
		name, amount, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if _, r, container := strings.Cut(name, "/"); container {
			name = r
		}
		percent, ok2 := strings.CutSuffix(amount, "%")
		var err error
		if ok2 {
			_, err = strconv.ParseUint(percent, 10, 20)
		} else if q, parse := resource.ParseQuantity(amount); parse != nil || q.Sign() < 0 {
			err = resource.ErrFormatWrong
		}
		if !ok || err != nil || !slices.Contains(measured, corev1.ResourceName(name)) {
			return fmt.Sprintf("the entry %q is ignored: it is none like cpu=250m, memory=80%% or web/cpu=1",
				strings.TrimSpace(entry))
		}
	}
	return ""
}

// of returns the usage of a resource by a container.
func (u usage) of(c *corev1.Container, r corev1.ResourceName) resource.Quantity {
	request, ok := c.Resources.Requests[r]
	if !ok {
		request = none(r)
	}
	value, ok := u[c.Name+"/"+string(r)]
	if !ok {
		value = u["/"+string(r)]
	}
	if percent, ok := strings.CutSuffix(value, "%"); ok {
		n, err := strconv.ParseUint(percent, 10, 20)
		if err != nil {
			return request
		}
		if r == corev1.ResourceMemory { // whole bytes
			return *resource.NewQuantity(request.Value()/100*int64(n)+request.Value()%100*int64(n)/100, request.Format)
		}
		return *resource.NewMilliQuantity(request.MilliValue()*int64(n)/100, request.Format)
	}
	if q, err := resource.ParseQuantity(value); err == nil && q.Sign() >= 0 {
		return q
	}
	return request
}

// none returns 0 in the format of the resource.
func none(r corev1.ResourceName) resource.Quantity {
	if r == corev1.ResourceMemory {
		return *resource.NewQuantity(0, resource.BinarySI)
	}
	return *resource.NewQuantity(0, resource.DecimalSI)
}
