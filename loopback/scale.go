package loopback

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Scale returns the scale of an owner by the scale subresource of its kind; the zero Scale if there is no such object.
// Its errors are those that upstream's controllers show (K pkg/controller/disruption/disruption.go:
// getScaleController).
func (c *Client) Scale(ctx context.Context, namespace string, o workload.Owner) (s workload.Scale, err error) {
	gv, err := schema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return s, err
	}
	r := c.API.Types().Kind(gv.WithKind(o.Kind))
	switch {
	case r == nil:
		return s, &meta.NoKindMatchError{
			GroupKind: schema.GroupKind{Group: gv.Group, Kind: o.Kind}, SearchedVersions: []string{gv.Version},
		}
	case r.Subresource("scale") == nil:
		return s, fmt.Errorf("%s does not implement the scale subresource", r.GroupResource())
	case !r.Namespaced: // there is no such path below a namespace
		return s, nil
	}
	sc, err := c.API.Scale(ctx, registry.Path{Resource: r, Subresource: "scale", Namespace: namespace, Name: o.Name})
	switch {
	case apierrors.IsNotFound(err):
		return s, nil
	case err != nil:
		return s, err
	}
	return workload.Scale{UID: sc.UID, Replicas: sc.Spec.Replicas}, nil
}

// Autoscaler implements autoscale.API.
type Autoscaler struct {
	*Client
	Others Aggregator
}

// Target implements autoscale.API. The version in the reference does not matter (K
// pkg/controller/podautoscaler/horizontal.go: scaleForResourceMappings).
func (c *Autoscaler) Target(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference) (
	*autoscalingv1.Scale, error) {
	p, err := c.target(namespace, ref)
	if err != nil {
		return nil, err
	}
	return c.API.Scale(ctx, p)
}

// Rescale implements autoscale.API.
func (c *Autoscaler) Rescale(ctx context.Context, namespace string, ref autoscalingv2.CrossVersionObjectReference,
	s *autoscalingv1.Scale) error {
	p, err := c.target(namespace, ref)
	if err != nil {
		return err
	}
	return c.API.Rescale(ctx, p, s)
}

// errUnscalable is the error of upstream's client for a kind without the scale subresource.
var errUnscalable = errors.New("the server could not find the requested resource")

// target returns the path of a target's scale, in the preferred version of its kind.
func (c *Autoscaler) target(
	namespace string, ref autoscalingv2.CrossVersionObjectReference,
) (p registry.Path, err error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return p, err
	}
	err = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gv.Group, Kind: ref.Kind}}
	for _, r := range c.API.Types().All() {
		if r.Group != gv.Group || r.Kind != ref.Kind {
			continue
		}
		if r.Namespaced && r.Subresource("scale") != nil {
			return registry.Path{Resource: r, Subresource: "scale", Namespace: namespace, Name: ref.Name}, nil
		}
		err = errUnscalable
	}
	return p, err
}

// CustomMetric implements autoscale.API (k8s.io/metrics/pkg/client/custom_metrics: {discovery,versioned_client}.go).
func (c *Autoscaler) CustomMetric(
	ctx context.Context, namespace string, of schema.GroupKind, name, metric string, query url.Values,
) ([]byte, error) {
	gv, ok := c.Others.Preferred("custom.metrics.k8s.io", "v1beta2", "v1beta1")
	switch {
	case !ok:
		return nil, errors.New("no custom metrics API (custom.metrics.k8s.io) registered")
	case of == schema.GroupKind{Kind: "Namespace"}:
		return c.Metric(ctx, gv, namespace, query, "metrics", metric)
	}
	r, err := c.mapped(of)
	if err != nil {
		return nil, fmt.Errorf("unable to map kind %v to resource: %w", of, err)
	}
	return c.Metric(ctx, gv, namespace, query, r.String(), name, metric)
}

// Metric implements autoscale.API with the server of an APIService.
func (c *Autoscaler) Metric(
	ctx context.Context, gv schema.GroupVersion, namespace string, query url.Values, names ...string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	at := url.URL{Path: path.Join("/namespaces", namespace, path.Join(names...)), RawQuery: query.Encode()}
	return c.Others.Do(ctx, c.API.User(), http.MethodGet, gv, at, "", nil)
}

// mapped returns the resource of a kind, in any version.
func (c *Autoscaler) mapped(kind schema.GroupKind) (schema.GroupResource, error) {
	for _, r := range c.API.Types().All() {
		if r.Group == kind.Group && r.Kind == kind.Kind {
			return r.GroupResource(), nil
		}
	}
	all, _ := c.Others.Resources() // those of versions that are not known are not found
	for _, r := range all {
		if r.Group == kind.Group && r.Kind == kind.Kind {
			return schema.GroupResource{Group: r.Group, Resource: r.Name}, nil
		}
	}
	return schema.GroupResource{}, &meta.NoKindMatchError{GroupKind: kind}
}
