package fieldmanager

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// scaleResource is an entry for the kind of scale subresources, which has no entry in the table.
var scaleResource = &resources.Resource{
	Served: resources.Served{
		Group: resources.ScaleKind.Group, Version: resources.ScaleKind.Version,
		Kind: resources.ScaleKind.Kind,
	},
	Storage: resources.Storage{Stored: resources.ScaleKind},
	New: func() runtime.Object {
		sc := &autoscalingv1.Scale{}
		sc.SetGroupVersionKind(resources.ScaleKind)
		return sc
	},
}

// Scaling tracks one write of an object's Scale. The Scale has those entries of the object's managedFields that own the
// number of replicas, as entries with spec.replicas. The method Entries applies changes of them to the object's
// managedFields (K pkg/registry/apps/deployment/storage/storage.go:scaleUpdatedObjectInfo).
type Scaling struct {
	endpoint *endpoint
	handler  *managedfields.ScaleHandler
	shown    []metav1.ManagedFieldsEntry
}

// Scaling returns the Scaling for a write of an object's Scale. res is the entry of the request. The error means that
// the managedFields of the object can't be decoded.
func (m *Managers) Scaling(res *resources.Resource, parent metav1.Object) (*Scaling, error) {
	e, err := m.scale(res)
	if err != nil {
		return nil, err
	}
	h := managedfields.NewScaleHandler(parent.GetManagedFields(), res.GroupVersion(), m.replicas(res))
	shown, err := h.ToSubresource()
	if err != nil {
		return nil, fmt.Errorf("reading managed fields of %s: %w", parent.GetName(), err)
	}
	return &Scaling{e, h, shown}, nil
}

// scale returns the endpoint of the Scales of a resource's objects.
func (m *Managers) scale(res *resources.Resource) (*endpoint, error) {
	if res.Custom {
		return m.customScale()
	}
	return m.endpoint(scaleResource, "scale")
}

// scaleConvertor is the convertor for Scales of custom resources. It accepts only Scales with a Go type. So an apply
// that changes a Scale fails, because the merged object has no Go type (AX pkg/apiserver/conversion/converter.go:
// crConverter).
type scaleConvertor struct{ *convertor }

// New returns an empty Scale without a Go type.
func (c *scaleConvertor) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// ConvertToVersion converts a Scale with a Go type, and rejects any other.
func (c *scaleConvertor) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	switch obj.(type) {
	case *deferred, *unstructured.Unstructured:
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", c.res.GroupVersion())
	}
	return c.convertor.ConvertToVersion(obj, target)
}

// replicas returns the path of the number of replicas in each version of a resource.
func (m *Managers) replicas(res *resources.Resource) managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	for _, v := range m.versions(res) {
		var path fieldpath.Path
		if sub := v.Subresource("scale"); sub != nil {
			path = fieldpath.MakePathOrDie(elements(sub.ScalePaths.Replicas)...)
		}
		paths[v.GroupVersion().String()] = path
	}
	return paths
}

// Shown returns the managedFields of the Scale.
func (s *Scaling) Shown() []metav1.ManagedFieldsEntry { return s.shown }

// Update sets the managedFields of sc, which replaces the current Scale live, and returns sc. It does not modify live.
func (s *Scaling) Update(live, sc *autoscalingv1.Scale, manager string) *autoscalingv1.Scale {
	if err := s.endpoint.update(s.live(live), sc, manager); err != nil {
		sc.SetManagedFields(nil)
	}
	return sc
}

// Apply merges an apply document into the current Scale live, and returns the result. It does not modify live.
// Arguments and errors are those of Managers.Apply.
func (s *Scaling) Apply(live *autoscalingv1.Scale, document []byte, manager string, force bool, strictness string,
	warn func(string)) (*autoscalingv1.Scale, error) {
	obj, err := s.endpoint.apply(s.live(live), document, manager, force, strictness, warn)
	if err != nil {
		return nil, err
	}
	sc, err := s.endpoint.convert.ConvertToVersion(obj, resources.ScaleKind.GroupVersion())
	if err != nil {
		return nil, err
	}
	return sc.(*autoscalingv1.Scale), nil
}

func (s *Scaling) live(live *autoscalingv1.Scale) *autoscalingv1.Scale {
	shown := *live
	shown.SetGroupVersionKind(resources.ScaleKind)
	shown.SetManagedFields(s.shown)
	return &shown
}

// Entries returns the managedFields of the object for sc, which is a result of Update or Apply.
func (s *Scaling) Entries(sc *autoscalingv1.Scale) ([]metav1.ManagedFieldsEntry, error) {
	entries, err := s.handler.ToParent(sc.GetManagedFields())
	if err != nil {
		return nil, fmt.Errorf("managed fields of the scale of %s: %w", sc.GetName(), err)
	}
	return entries, nil
}
