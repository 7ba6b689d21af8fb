package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/patch"
)

// Applied merges the apply document into the live object. live is nil if the request creates the object.
func (s *Registry) Applied(o *Operation, live Object, p patch.Patch) (Object, error) {
	var was runtime.Object
	if live != nil {
		was = live
	}
	merged, err := s.Fields.Apply(o.Resource, o.subName(), was, p.Bytes, o.Manager, p.Force, p.Strictness, p.Warn)
	if err != nil {
		return nil, err
	}
	if !o.Resource.Custom {
		merged.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	}
	// The field manager has already set the defaults of a custom resource, unless the document changes no value (AM
	// pkg/util/managedfields/internal/structuredmerge.go: Apply).
	if d := o.Resource.Strategy.Default; d != nil && !o.Resource.Custom {
		d(merged)
	}
	obj, ok := merged.(Object)
	if !ok {
		return nil, fmt.Errorf("applying %s: %T is not an API object", o.Name, merged)
	}
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil {
		return nil, err
	}
	return obj, o.CheckName(obj)
}
