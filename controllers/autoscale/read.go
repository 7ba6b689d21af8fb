package autoscale

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/ptr"
)

// reading is what the server of a metric returned: for one of a resource the usage, and for one of the type Pods
// samples, both by the names of the pods; else the object's value, or the sum of the external values, in thousandths.
type reading struct {
	usage   map[string]*metricsv1beta1.PodMetrics
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

// read reads the metrics of a spec for the pods that a selector selects, but for usage that Options.Measure measures.
func (c *controller) read(ctx context.Context, a *autoscalingv2.HorizontalPodAutoscaler, pods string) []reading {
	out := make([]reading, len(a.Spec.Metrics))
	for i, spec := range a.Spec.Metrics {
		switch r := &out[i]; spec.Type {
		case autoscalingv2.ResourceMetricSourceType, autoscalingv2.ContainerResourceMetricSourceType:
			if c.Measure == nil {
				*r = c.readUsage(ctx, a.Namespace, pods)
			}
		case autoscalingv2.PodsMetricSourceType:
			*r = c.readPods(ctx, a.Namespace, pods, spec.Pods.Metric)
		case autoscalingv2.ObjectMetricSourceType:
			r.value, r.err = c.readObject(ctx, a.Namespace, spec.Object.DescribedObject, spec.Object.Metric)
		case autoscalingv2.ExternalMetricSourceType:
			r.value, r.err = c.readExternal(ctx, a.Namespace, spec.External.Metric)
		}
	}
	return out
}

// readUsage reads what pods use of resources (metrics/client.go: GetResourceMetric).
func (c *controller) readUsage(ctx context.Context, namespace, pods string) (r reading) {
	kind := metricsv1beta1.SchemeGroupVersion.WithKind("PodMetrics").GroupKind()
	data, err := c.api.Metrics(ctx, namespace, kind, "", "pods", url.Values{"labelSelector": {pods}})
	var list metricsv1beta1.PodMetricsList
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		r.err = fmt.Errorf("unable to fetch metrics from resource metrics API: %w", err)
	}
	r.usage = map[string]*metricsv1beta1.PodMetrics{}
	for i := range list.Items {
		r.usage[list.Items[i].Name] = &list.Items[i]
	}
	return r
}

// readPods reads a metric of pods (GetRawMetric).
func (c *controller) readPods(
	ctx context.Context, namespace, pods string, m autoscalingv2.MetricIdentifier,
) (r reading) {
	values, err := c.custom(ctx, namespace, schema.GroupKind{Kind: "Pod"}, "*", url.Values{"labelSelector": {pods}}, m)
	if err == nil && len(values) == 0 {
		err = errors.New("no metrics returned from custom metrics API")
	}
	if err != nil {
		r.err = fmt.Errorf("unable to get metric %s: %w", m.Name, err)
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
func (c *controller) readObject(ctx context.Context, namespace string, o autoscalingv2.CrossVersionObjectReference,
	m autoscalingv2.MetricIdentifier) (int64, error) {
	kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
	values, err := c.custom(ctx, namespace, kind, o.Name, url.Values{}, m)
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("unable to fetch metrics from custom metrics API: the custom metrics API server returned %d "+
			"results when we asked for exactly one", len(values))
	}
	if err != nil {
		return 0, fmt.Errorf("unable to get metric %s: %s on %s %s/%w", m.Name, o.Kind, namespace, o.Name, err)
	}
	return values[0].Value.MilliValue(), nil
}

// readExternal adds up the values of an external metric (GetExternalMetric).
func (c *controller) readExternal(
	ctx context.Context, namespace string, m autoscalingv2.MetricIdentifier,
) (sum int64, err error) {
	values, err := c.values(ctx, namespace, schema.GroupKind{}, "", m, "labelSelector", url.Values{})
	switch {
	case err != nil:
		err = fmt.Errorf("unable to fetch metrics from external metrics API: %w", err)
	case len(values) == 0:
		err = errors.New("no metrics returned from external metrics API")
	}
	if err != nil {
		return 0, fmt.Errorf("unable to get external metric %s/%s/%+v: %w", namespace, m.Name, m.Selector, err)
	}
	for _, v := range values {
		sum += v.Value.MilliValue()
	}
	return sum, nil
}

func (c *controller) custom(ctx context.Context, namespace string, of schema.GroupKind, name string, query url.Values,
	m autoscalingv2.MetricIdentifier) ([]metricValue, error) {
	values, err := c.values(ctx, namespace, of, name, m, "metricLabelSelector", query)
	if err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from custom metrics API: %w", err)
	}
	return values, nil
}

// values requests a metric, with its selector as a parameter.
func (c *controller) values(ctx context.Context, namespace string, of schema.GroupKind, name string,
	m autoscalingv2.MetricIdentifier, parameter string, query url.Values) ([]metricValue, error) {
	s, err := metav1.LabelSelectorAsSelector(m.Selector)
	if err != nil {
		return nil, err
	}
	if text := s.String(); text != "" {
		query.Set(parameter, text)
	}
	data, err := c.api.Metrics(ctx, namespace, of, name, m.Name, query)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []metricValue }
	err = json.Unmarshal(data, &list)
	return list.Items, err
}
