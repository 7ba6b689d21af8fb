package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/patch"
)

// Patched applies the patch to the served version of an object and converts the result back.
func (o *Operation) Patched(old Object, p patch.Patch) (Object, error) {
	var served runtime.Object = old
	if o.Resource.FromStored != nil {
		var err error
		if served, err = o.Resource.FromStored(old); err != nil {
			return nil, fmt.Errorf("converting %s: %w", o.Name, err)
		}
	}
	served.GetObjectKind().SetGroupVersionKind(o.Resource.GroupVersionKind())
	next, err := p.Apply(served, o.Resource.GroupVersionKind(), codec.CoercionOf(o.Resource))
	if err != nil {
		return nil, err
	}
	obj, err := o.ToStored(next)
	if err != nil {
		return nil, p.Unconvertible(next, err)
	}
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil { // B-62
		return nil, err
	}
	return obj, o.CheckName(obj)
}
