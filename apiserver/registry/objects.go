package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission/dynamic"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Objects returns what policies read.
func (s *Registry) Objects() dynamic.Objects { return objects{s} }

// objects implements dynamic.Objects.
type objects struct{ s *Registry }

// One implements dynamic.Objects. The request has made a consistent read before; only if the object is missing another
// one follows.
func (b objects) One(ctx context.Context, res *resources.Resource, namespace, name string) (*storage.Object, error) {
	o := Operation{Target: Target{Resource: res, Namespace: namespace, Name: name}}
	key := o.Key(b.s.Root)
	if item, _ := b.s.Cache.Get(key); item != nil {
		return b.s.readable(item)
	}
	return b.s.Load(ctx, key)
}

// Each implements dynamic.Objects.
func (b objects) Each(res *resources.Resource, namespace string, yield func(*storage.Object)) error {
	snap, err := b.s.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return err
	}
	prefix := ""
	if namespace != "" {
		prefix = b.s.within(res, namespace)
	}
	snap.Ascend(prefix, "", func(item *storage.Object) bool {
		yield(item)
		return true
	})
	return nil
}

// Served implements dynamic.Objects.
func (b objects) Served(res *resources.Resource, item *storage.Object) (runtime.Object, error) {
	o := Operation{Target: Target{Resource: res}}
	obj, err := o.Decode(item)
	if err != nil {
		return nil, err
	}
	var out runtime.Object = obj
	if !res.Custom && res.FromStored != nil {
		if out, err = res.FromStored(obj); err != nil {
			return nil, err
		}
	}
	out.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	return out, nil
}
