package registry

import (
	"context"
	"encoding/json"
	"slices"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// GetVirtual returns an object of a resource that is not stored. It has no resourceVersion.
func (s *Registry) GetVirtual(ctx context.Context, o *Operation) (*storage.Object, error) {
	items, err := s.virtual(ctx, o.Target)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Meta.Name == o.Name && item.Meta.Namespace == o.Namespace {
			return item, nil
		}
	}
	return nil, o.Resource.Hooks.Objects.NotFound(o.Namespace, o.Name)
}

// ListVirtual returns the selected objects of a resource that is not stored.
func (s *Registry) ListVirtual(ctx context.Context, t Target, o *metainternal.ListOptions) ([]*storage.Object, error) {
	sel, err := s.SelectionOf(t, o)
	if err != nil {
		return nil, err
	}
	items, err := s.virtual(ctx, t)
	return slices.DeleteFunc(items, func(o *storage.Object) bool { return !sel.Matches(o) }), err
}

// virtual returns the objects of a target of such a resource.
func (s *Registry) virtual(ctx context.Context, t Target) (out []*storage.Object, err error) {
	if t.Resource.Hooks.Objects.List == nil {
		return nil, status.ErrNoMethod
	}
	objs, err := t.Resource.Hooks.Objects.List(ctx, host{s}, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	for _, obj := range objs {
		data, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		out = append(out, &storage.Object{JSON: data,
			Meta: storage.Meta{Kind: kind, APIVersion: version, Namespace: obj.GetNamespace(), Name: obj.GetName(),
				Labels: obj.GetLabels()}})
	}
	return out, nil
}
