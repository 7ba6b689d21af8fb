package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/patch"
)

// Applied merges the document into an object; live is nil if it creates one.
func (s *Registry) Applied(o *Operation, live Object, p patch.Patch) (Object, error) {
	var was runtime.Object
	if live != nil {
		was = live
	}
	merged, err := s.Fields.Apply(o.Resource, o.subName(), was, p.Bytes, o.Manager, p.Force, p.Strictness, p.Warn)
	if err != nil {
		return nil, err
	}
	if !o.Resource.Direct {
		merged.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	}
	// Of a custom resource the field manager has filled in the defaults, unless the document changes no value (AM
	// pkg/util/managedfields/internal/structuredmerge.go: Apply).
	if d := o.Resource.Strategy.Default; d != nil && !o.Resource.Custom {
		d(merged)
	}
	obj, ok := merged.(Object)
	if !ok {
		return nil, fmt.Errorf("applying %s: %T is no object", o.Name, merged)
	}
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil {
		return nil, err
	}
	return obj, o.CheckName(obj)
}
