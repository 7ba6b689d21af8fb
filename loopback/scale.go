package loopback

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Scale implements workload.API. Its errors are those that upstream's controllers show (K
// pkg/controller/disruption/disruption.go: getScaleController).
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
