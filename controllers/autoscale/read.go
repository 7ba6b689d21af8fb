package autoscale

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/ptr"
)

// reading is what the server of a metric returned: for one of a resource the usage, for one of the type Pods samples by
// the names of the pods, else the object's value, or the sum of the external values, in thousandths.
type reading struct {
	usage   []metricsv1beta1.PodMetrics
	samples map[string]sample
	value   int64
	err     error
}

// metricValue is a value in any version of custom.metrics.k8s.io and external.metrics.k8s.io.
type metricValue struct {
	DescribedObject corev1.ObjectReference
	Timestamp       metav1.Time
	WindowSeconds   *int64
	Window          *int64 // that of v1beta1
	Value           resource.Quantity
}

// read reads the metrics that the decision depends on, except for usage that Options.Measure measures.
func (c *controller) read(ctx context.Context, in input) []reading {
	if in.err != nil || in.unmeasured(c.NeverToZero) != "" {
		return nil
	}
	s, err := in.selector()
	if err != nil || s == nil {
		return nil
	}
	namespace, out := in.hpa.Namespace, make([]reading, len(in.hpa.Spec.Metrics))
	var query url.Values
	for i, spec := range in.hpa.Spec.Metrics {
		switch r := &out[i]; spec.Type {
		case autoscalingv2.ResourceMetricSourceType, autoscalingv2.ContainerResourceMetricSourceType:
			if c.Measure == nil {
				*r = c.readUsage(ctx, namespace, s.String())
			}
		case autoscalingv2.PodsMetricSourceType:
			if query, r.err = parameters("metricLabelSelector", spec.Pods.Metric); r.err == nil {
				query.Set("labelSelector", s.String())
				*r = c.readPods(ctx, namespace, spec.Pods.Metric.Name, query)
			}
		case autoscalingv2.ObjectMetricSourceType:
			if query, r.err = parameters("metricLabelSelector", spec.Object.Metric); r.err == nil {
				*r = c.readObject(ctx, namespace, spec.Object, query)
			}
		case autoscalingv2.ExternalMetricSourceType:
			if query, r.err = parameters("labelSelector", spec.External.Metric); r.err == nil {
				*r = c.readExternal(ctx, namespace, spec.External.Metric, query)
			}
		}
	}
	return out
}

// readUsage reads what pods use of resources (metrics/client.go: GetResourceMetric).
func (c *controller) readUsage(ctx context.Context, namespace, pods string) (r reading) {
	r.usage, r.err = decoded[metricsv1beta1.PodMetrics](c.api.Metric(ctx, metricsv1beta1.SchemeGroupVersion, namespace,
		url.Values{"labelSelector": {pods}}, "pods"))
	if r.err != nil {
		r.err = fmt.Errorf("unable to fetch metrics from resource metrics API: %w", r.err)
	}
	return r
}

// readPods reads a metric of pods (GetRawMetric).
func (c *controller) readPods(ctx context.Context, namespace, metric string, query url.Values) (r reading) {
	values, err := decoded[metricValue](
		c.api.CustomMetric(ctx, namespace, schema.GroupKind{Kind: "Pod"}, "*", metric, query))
	switch {
	case err != nil:
		r.err = fmt.Errorf("unable to get metric %s: unable to fetch metrics from custom metrics API: %w", metric, err)
	case len(values) == 0:
		r.err = fmt.Errorf("unable to get metric %s: no metrics returned from custom metrics API", metric)
	}
	r.samples = map[string]sample{}
	for _, v := range values {
		window := time.Duration(*cmp.Or(v.WindowSeconds, v.Window, ptr.To[int64](60))) * time.Second
		r.samples[v.DescribedObject.Name] = sample{v.Timestamp.Time, window, v.Value.MilliValue()}
	}
	return r
}

// readObject reads a metric of an object (GetObjectMetric). As in upstream, the message has the error in place of the
// object's name.
func (c *controller) readObject(
	ctx context.Context, namespace string, m *autoscalingv2.ObjectMetricSource, query url.Values,
) reading {
	o := m.DescribedObject
	kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
	values, err := decoded[metricValue](c.api.CustomMetric(ctx, namespace, kind, o.Name, m.Metric.Name, query))
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("the custom metrics API server returned %d results when we asked for exactly one", len(values))
	}
	if err != nil {
		return reading{err: fmt.Errorf("unable to get metric %s: %s on %s %s/unable to fetch metrics from custom metrics "+
			"API: %w", m.Metric.Name, o.Kind, namespace, o.Name, err)}
	}
	return reading{value: values[0].Value.MilliValue()}
}

var external = schema.GroupVersion{Group: "external.metrics.k8s.io", Version: "v1beta1"}

// readExternal adds up the values of an external metric (GetExternalMetric).
func (c *controller) readExternal(
	ctx context.Context, namespace string, m autoscalingv2.MetricIdentifier, query url.Values,
) (r reading) {
	name := strings.ToLower(m.Name) // as client-go does with names of resources (CG rest/request.go: URL)
	values, err := decoded[metricValue](c.api.Metric(ctx, external, namespace, query, name))
	switch {
	case err != nil:
		err = fmt.Errorf("unable to fetch metrics from external metrics API: %w", err)
	case len(values) == 0:
		err = errors.New("no metrics returned from external metrics API")
	}
	if err != nil {
		r.err = fmt.Errorf("unable to get external metric %s/%s/%+v: %w", namespace, m.Name, m.Selector, err)
	}
	for _, v := range values {
		r.value += v.Value.MilliValue()
	}
	return r
}

// parameters returns the query for a metric, with its selector as the value of a parameter.
func parameters(parameter string, m autoscalingv2.MetricIdentifier) (url.Values, error) {
	s, err := metav1.LabelSelectorAsSelector(m.Selector)
	if err != nil || s.String() == "" {
		return url.Values{}, err
	}
	return url.Values{parameter: {s.String()}}, nil
}

// decoded returns the items of a response.
func decoded[T any](data []byte, err error) ([]T, error) {
	var list struct{ Items []T }
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	return list.Items, err
}
