package autoscale

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// The errors for metrics APIs that are not served, with the messages of upstream's clients.
var (
	errNoResourceAPI = errors.New("unable to fetch metrics from resource metrics API: the server could not find the " +
		"requested resource (get pods.metrics.k8s.io)")
	errNoCustomAPI = errors.New("unable to fetch metrics from custom metrics API: " +
		"no custom metrics API (custom.metrics.k8s.io) registered")
)

// proposal is the number of replicas that one metric proposes, or the error that prevents a proposal.
type proposal struct {
	replicas int32
	name     string
	status   autoscalingv2.MetricStatus
	// reason and cause are the reason and the message of the condition and of the event. err is the error of the
	// decision.
	reason     string
	cause, err error
}

// propose computes one metric (computeReplicasForMetric).
func (d *decision) propose(spec autoscalingv2.MetricSpec) (p proposal) {
	wrap := ""
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		p, wrap = d.resource(spec.Resource), fmt.Sprintf("failed to get %s resource metric value: ", spec.Resource.Name)
	case autoscalingv2.ContainerResourceMetricSourceType:
		p = d.containerResource(spec.ContainerResource)
		wrap = fmt.Sprintf("failed to get %s container metric value: ", spec.ContainerResource.Container)
	case autoscalingv2.PodsMetricSourceType:
		p.reason, p.cause = "FailedGetPodsMetric", podsMetric(spec.Pods)
		wrap = "failed to get pods metric value: "
	case autoscalingv2.ObjectMetricSourceType:
		p.reason, p.cause = "FailedGetObjectMetric", d.object(spec.Object)
		wrap = "failed to get object metric value: "
	case autoscalingv2.ExternalMetricSourceType:
		p.reason, p.cause = "FailedGetExternalMetric", d.external(spec.External)
		wrap = fmt.Sprintf("failed to get %s external metric value: ", spec.External.Metric.Name)
	default:
		p.reason, p.cause = "InvalidMetricSourceType", fmt.Errorf("unknown metric source type %q", spec.Type)
	}
	if p.cause != nil {
		p.err = fmt.Errorf("%s%w", wrap, p.cause)
		d.warn(p.reason, p.cause.Error())
	}
	return p
}

// podsMetric returns the error for a metric of the type Pods.
func podsMetric(m *autoscalingv2.PodsMetricSource) error {
	if _, err := metav1.LabelSelectorAsSelector(m.Metric.Selector); err != nil {
		return err
	}
	return fmt.Errorf("unable to get metric %s: %w", m.Metric.Name, errNoCustomAPI)
}

// object returns the error for a metric of the type Object. As in upstream, its message has the error in place of the
// object's name.
func (d *decision) object(m *autoscalingv2.ObjectMetricSource) error {
	if _, err := metav1.LabelSelectorAsSelector(m.Metric.Selector); err != nil {
		return err
	}
	err := fmt.Errorf("unable to get metric %s: %s on %s %s/%w", m.Metric.Name, m.DescribedObject.Kind, d.hpa.Namespace,
		m.DescribedObject.Name, errNoCustomAPI)
	switch m.Target.Type {
	case autoscalingv2.ValueMetricType:
		return err
	case autoscalingv2.AverageValueMetricType:
		return fmt.Errorf("failed to get %s object metric: %w", m.Metric.Name, err)
	}
	return errors.New("invalid object metric source: neither a value target nor an average value target was set")
}

// external returns the error for a metric of the type External.
func (d *decision) external(m *autoscalingv2.ExternalMetricSource) error {
	_, err := metav1.LabelSelectorAsSelector(m.Metric.Selector)
	if err == nil {
		err = fmt.Errorf("unable to get external metric %s/%s/%+v: unable to fetch metrics from external metrics API: "+
			"the server could not find the requested resource (get %s.external.metrics.k8s.io)", d.hpa.Namespace,
			m.Metric.Name, m.Metric.Selector, m.Metric.Name)
	}
	switch {
	case m.Target.AverageValue != nil:
		return fmt.Errorf("failed to get %s external metric: %w", m.Metric.Name, err)
	case m.Target.Value != nil:
		return fmt.Errorf("failed to get external metric %s: %w", m.Metric.Name, err)
	}
	return errors.New("invalid external metric source: neither a value target nor an average value target was set")
}

// resource computes a metric of the type Resource.
func (d *decision) resource(m *autoscalingv2.ResourceMetricSource) (p proposal) {
	p, current := d.usage(m.Name, "", m.Target)
	p.reason = "FailedGetResourceMetric"
	p.status = autoscalingv2.MetricStatus{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricStatus{Name: m.Name, Current: current}}
	return p
}

// containerResource computes a metric of the type ContainerResource.
func (d *decision) containerResource(m *autoscalingv2.ContainerResourceMetricSource) (p proposal) {
	p, current := d.usage(m.Name, m.Container, m.Target)
	p.reason = "FailedGetContainerResourceMetric"
	p.status = autoscalingv2.MetricStatus{Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{
			Name: m.Name, Container: m.Container, Current: current}}
	return p
}

// usage computes the number of replicas from the usage of a resource (computeStatusForResourceMetricGeneric).
func (d *decision) usage(r corev1.ResourceName, container string, target autoscalingv2.MetricTarget) (
	p proposal, current autoscalingv2.MetricValueStatus) {
	var m measure
	switch {
	case target.AverageValue != nil:
		p.name = fmt.Sprintf("%s resource", r)
		if p.replicas, m, p.cause = d.byAverage(r, container, target.AverageValue.MilliValue()); p.cause != nil {
			p.cause = fmt.Errorf("failed to get %s usage: %w", r, p.cause)
		}
	case target.AverageUtilization != nil:
		p.name = fmt.Sprintf("%s resource utilization (percentage of request)", r)
		if container != "" {
			p.name = fmt.Sprintf("%s container resource utilization (percentage of request)", r)
		}
		if p.replicas, m, p.cause = d.byUtilization(r, container, *target.AverageUtilization); p.cause != nil {
			p.cause = fmt.Errorf("failed to get %s utilization: %w", r, p.cause)
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
	r corev1.ResourceName, container string, target int32,
) (n int32, m measure, err error) {
	g, err := d.measured(r, container)
	if err != nil {
		return 0, m, err
	}
	requests, err := d.requests(r, container)
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

// byAverage computes the number of replicas from the average usage (GetRawResourceReplicas).
func (d *decision) byAverage(r corev1.ResourceName, container string, target int64) (n int32, m measure, err error) {
	g, err := d.measured(r, container)
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
func (d *decision) measured(r corev1.ResourceName, container string) (g groups, err error) {
	samples, err := d.samples(r, container)
	if err != nil {
		return g, fmt.Errorf("unable to get metrics for resource %s: %w", r, err)
	}
	if g = d.group(samples, r); len(g.samples) == 0 {
		return g, errNoMetrics
	}
	return g, nil
}

// samples returns the usage of each pod, or of one container of each pod (metrics/client.go: GetResourceMetric).
func (d *decision) samples(r corev1.ResourceName, container string) (map[string]sample, error) {
	if d.Measure == nil {
		return nil, errNoResourceAPI
	}
	out, some := map[string]sample{}, false
	for _, p := range d.pods {
		m := d.Measure(p, d.now)
		if m == nil {
			continue
		}
		some = true
		value, found, ok := sum(m, r, container)
		if !found {
			return nil, fmt.Errorf("failed to get container metrics: container %s not present in metrics for pod %s/%s",
				container, p.Namespace, p.Name)
		}
		if ok {
			out[p.Name] = sample{m.Timestamp.Time, m.Window.Duration, value}
		}
	}
	if !some {
		return nil, errors.New("no metrics returned from resource metrics API")
	}
	return out, nil
}

// sum returns the sum of the containers' usage, in thousandths. found is false if the named container is missing. ok is
// false if a container has no value.
func sum(m *metricsv1beta1.PodMetrics, r corev1.ResourceName, container string) (value int64, found, ok bool) {
	found = container == ""
	ok = len(m.Containers) > 0
	for _, c := range m.Containers {
		if container != "" && c.Name != container {
			continue
		}
		found = true
		q, has := c.Usage[r]
		value, ok = value+q.MilliValue(), ok && has
	}
	return value, found, ok
}
