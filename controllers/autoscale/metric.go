package autoscale

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// proposal is the number of replicas that one metric proposes, or the error that prevents a proposal.
type proposal struct {
	replicas int32
	name     string
	status   autoscalingv2.MetricStatus
	// reason and cause are the reason and the message of the condition and of the event. err is the error of the
	// decision, with more context.
	reason     string
	cause, err error
}

// propose computes one metric (computeReplicasForMetric).
func (d *decision) propose(spec autoscalingv2.MetricSpec, r reading) (p proposal) {
	wrap := ""
	var current autoscalingv2.MetricValueStatus
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		m := spec.Resource
		p, current = d.usage(r, m.Name, "", m.Target)
		p.reason, wrap = "FailedGetResourceMetric", fmt.Sprintf("failed to get %s resource metric value: ", m.Name)
		p.status.Resource = &autoscalingv2.ResourceMetricStatus{Name: m.Name, Current: current}
	case autoscalingv2.ContainerResourceMetricSourceType:
		m := spec.ContainerResource
		p, current = d.usage(r, m.Name, m.Container, m.Target)
		p.reason = "FailedGetContainerResourceMetric"
		wrap = fmt.Sprintf("failed to get %s container metric value: ", m.Container)
		p.status.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{
			Name: m.Name, Container: m.Container, Current: current}
	case autoscalingv2.PodsMetricSourceType:
		p, wrap = d.podsMetric(spec.Pods, r), "failed to get pods metric value: "
	case autoscalingv2.ObjectMetricSourceType:
		p, wrap = d.object(spec.Object, r), "failed to get object metric value: "
	case autoscalingv2.ExternalMetricSourceType:
		p = d.external(spec.External, r)
		wrap = fmt.Sprintf("failed to get %s external metric value: ", spec.External.Metric.Name)
	default:
		p.reason, p.cause = "InvalidMetricSourceType", fmt.Errorf("unknown metric source type %q", spec.Type)
	}
	p.status.Type = spec.Type
	if p.cause != nil {
		p.err = fmt.Errorf("%s%w", wrap, cmp.Or(p.err, p.cause))
		d.warn(p.reason, p.cause.Error())
	}
	return p
}

// podsMetric computes a metric of the type Pods (computeStatusForPodsMetric).
func (d *decision) podsMetric(m *autoscalingv2.PodsMetricSource, r reading) (p proposal) {
	p.reason, p.name = "FailedGetPodsMetric", "pods metric "+m.Metric.Name
	var usage measure
	p.replicas, usage, p.cause = d.byAverage(r, "", m.Target.AverageValue.MilliValue())
	p.status.Pods = &autoscalingv2.PodsMetricStatus{Metric: m.Metric, Current: autoscalingv2.MetricValueStatus{
		AverageValue: resource.NewMilliQuantity(usage.average, resource.DecimalSI)}}
	return p
}

// object computes a metric of the type Object (computeStatusForObjectMetric). As in upstream, one with an average is
// named like an external metric, and its status has no object.
func (d *decision) object(m *autoscalingv2.ObjectMetricSource, r reading) (p proposal) {
	status := &autoscalingv2.ObjectMetricStatus{Metric: m.Metric}
	p.reason, p.status.Object = "FailedGetObjectMetric", status
	switch t := m.Target; {
	case t.Type == autoscalingv2.ValueMetricType && t.Value != nil:
		p.name, status.DescribedObject = m.DescribedObject.Kind+" metric "+m.Metric.Name, m.DescribedObject
		p.replicas, status.Current, p.cause = d.byValue(r, t.Value)
	case t.Type == autoscalingv2.AverageValueMetricType && t.AverageValue != nil:
		p.name = fmt.Sprintf("external metric %s(%+v)", m.Metric.Name, m.Metric.Selector)
		p.replicas, status.Current, p.cause = d.byShare(r, t.AverageValue)
		if p.cause != nil {
			p.err = fmt.Errorf("failed to get %s object metric: %w", m.Metric.Name, p.cause)
		}
	default:
		p.cause = errors.New("invalid object metric source: neither a value target nor an average value target was set")
	}
	return p
}

// external computes a metric of the type External (computeStatusForExternalMetric).
func (d *decision) external(m *autoscalingv2.ExternalMetricSource, r reading) (p proposal) {
	status := &autoscalingv2.ExternalMetricStatus{Metric: m.Metric}
	p.reason, p.name = "FailedGetExternalMetric", fmt.Sprintf("external metric %s(%+v)", m.Metric.Name, m.Metric.Selector)
	p.status.External = status
	switch t := m.Target; {
	case t.AverageValue != nil:
		if p.replicas, status.Current, p.cause = d.byShare(r, t.AverageValue); p.cause != nil {
			p.err = fmt.Errorf("failed to get %s external metric: %w", m.Metric.Name, p.cause)
		}
	case t.Value != nil:
		if p.replicas, status.Current, p.cause = d.byValue(r, t.Value); p.cause != nil {
			p.err = fmt.Errorf("failed to get external metric %s: %w", m.Metric.Name, p.cause)
		}
	default:
		p.cause = errors.New("invalid external metric source: neither a value target nor an average value target was set")
	}
	return p
}

// byValue computes the number of replicas from a value for all pods (getUsageRatioReplicaCount).
func (d *decision) byValue(r reading, target *resource.Quantity) (
	n int32, current autoscalingv2.MetricValueStatus, err error) {
	if r.err != nil {
		return 0, current, r.err
	}
	current.Value = resource.NewMilliQuantity(r.value, resource.DecimalSI)
	ratio := float64(r.value) / float64(target.MilliValue())
	switch {
	case d.old == 0:
		return ceil(ratio, 1), current, nil
	case d.tolerated(ratio):
		return d.old, current, nil
	case len(d.pods) == 0:
		return 0, current, fmt.Errorf("unable to calculate ready pods: %w", errNoPods)
	}
	ready := 0
	for _, p := range d.pods {
		if workload.IsReady(p) && p.Status.Phase == corev1.PodRunning {
			ready++
		}
	}
	return ceil(ratio, ready), current, nil
}

// byShare computes the number of replicas from a value of which each has a share (GetObjectPerPodMetricReplicas,
// GetExternalPerPodMetricReplicas). Without replicas the status has the value; upstream divides it by 0.
func (d *decision) byShare(r reading, target *resource.Quantity) (
	n int32, current autoscalingv2.MetricValueStatus, err error) {
	if r.err != nil {
		return 0, current, r.err
	}
	n = d.scale.Status.Replicas
	wanted := float64(r.value) / float64(target.MilliValue())
	share := math.Ceil(float64(r.value) / float64(max(n, 1)))
	if n == 0 || !d.tolerated(wanted/float64(n)) {
		n = ceil(wanted, 1)
	}
	current.AverageValue = resource.NewMilliQuantity(int64(share), resource.DecimalSI)
	return n, current, nil
}

// usage computes the number of replicas from the usage of a resource (computeStatusForResourceMetricGeneric).
func (d *decision) usage(
	r reading, name corev1.ResourceName, container string, target autoscalingv2.MetricTarget,
) (p proposal, current autoscalingv2.MetricValueStatus) {
	var m measure
	r = d.samples(r, name, container)
	switch {
	case target.AverageValue != nil:
		p.name = fmt.Sprintf("%s resource", name)
		if p.replicas, m, p.cause = d.byAverage(r, name, target.AverageValue.MilliValue()); p.cause != nil {
			p.cause = fmt.Errorf("failed to get %s usage: %w", name, p.cause)
		}
	case target.AverageUtilization != nil:
		p.name = fmt.Sprintf("%s resource utilization (percentage of request)", name)
		if container != "" {
			p.name = fmt.Sprintf("%s container resource utilization (percentage of request)", name)
		}
		if p.replicas, m, p.cause = d.byUtilization(r, name, container, *target.AverageUtilization); p.cause != nil {
			p.cause = fmt.Errorf("failed to get %s utilization: %w", name, p.cause)
		}
		current.AverageUtilization = &m.percent
	default:
		p.cause = errors.New("invalid resource metric source: neither an average utilization target nor an average " +
			"value (usage) target was set")
	}
	current.AverageValue = resource.NewMilliQuantity(m.average, resource.DecimalSI)
	return p, current
}

// byUtilization computes the number of replicas from the usage in percent of the requests (GetResourceReplicas). When
// it scales down, a pod without a sample counts with all that it requests, or with the target if that is more. When it
// scales up, such a pod counts with a usage of 0.
func (d *decision) byUtilization(
	r reading, name corev1.ResourceName, container string, target int32,
) (n int32, m measure, err error) {
	g, err := d.measured(r, name)
	if err != nil {
		return 0, m, err
	}
	requests, err := d.requests(name, container)
	if err != nil {
		return 0, m, err
	}
	return d.sized(g, utilization(requests, target), func(pod string, ratio float64) (int64, bool) {
		if ratio < 1 {
			return requests[pod] * int64(max(100, target)) / 100, true
		}
		return 0, ratio > 1
	})
}

// byAverage computes the number of replicas from the average usage of a resource or, if that is empty, of a metric
// (calcPlainMetricReplicas).
func (d *decision) byAverage(r reading, name corev1.ResourceName, target int64) (n int32, m measure, err error) {
	g, err := d.measured(r, name)
	if err != nil {
		return 0, m, err
	}
	return d.sized(g, average(target), func(_ string, ratio float64) (int64, bool) {
		if ratio < 1 {
			return target, true
		}
		return 0, true
	})
}

// measured returns the pods in groups, with the samples that count. Without such samples it returns errNoMetrics.
func (d *decision) measured(r reading, name corev1.ResourceName) (g groups, err error) {
	switch {
	case r.err != nil:
		return g, r.err
	case len(d.pods) == 0:
		return g, errNoPods
	}
	if g = d.group(r.samples, name); len(g.samples) == 0 {
		return g, errNoMetrics
	}
	return g, nil
}

// samples returns the usage of each pod, or of one container of each pod (metrics/client.go: GetResourceMetric).
func (d *decision) samples(r reading, name corev1.ResourceName, container string) reading {
	failed := func(err error) reading {
		return reading{err: fmt.Errorf("unable to get metrics for resource %s: %w", name, err)}
	}
	if d.Measure != nil {
		for _, p := range d.pods {
			if m := d.Measure(p, d.now); m != nil {
				m.Namespace, m.Name = p.Namespace, p.Name
				r.usage = append(r.usage, *m)
			}
		}
	}
	switch {
	case r.err != nil:
		return failed(r.err)
	case len(r.usage) == 0:
		return failed(errors.New("no metrics returned from resource metrics API"))
	}
	r.samples = map[string]sample{}
	for _, m := range r.usage {
		value, found, ok := sum(m, name, container)
		if !found {
			return failed(fmt.Errorf("failed to get container metrics: container %s not present in metrics for pod %s/%s",
				container, m.Namespace, m.Name))
		}
		if ok {
			r.samples[m.Name] = sample{m.Timestamp.Time, m.Window.Duration, value}
		}
	}
	return r
}

// sum returns the sum of the containers' usage, in thousandths. found is false if the named container is missing. ok is
// false if a container has no value.
func sum(m metricsv1beta1.PodMetrics, name corev1.ResourceName, container string) (value int64, found, ok bool) {
	found = container == ""
	ok = len(m.Containers) > 0
	for _, c := range m.Containers {
		if container != "" && c.Name != container {
			continue
		}
		found = true
		q, has := c.Usage[name]
		value, ok = value+q.MilliValue(), ok && has
	}
	return value, found, ok
}
