package registry

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Lookup returns the functions with which admission plugins read objects.
func (s *Registry) Lookup() admission.Lookup { return lookup{s} }

// concerned reports whether a webhook or policy may apply to an operation on the target.
func (s *Registry) concerned(t Target, operation admission.Operation) bool {
	return s.Dynamic != nil && s.Dynamic.Concerns(t.Resource, t.subName(), operation, t.Namespace != "")
}

// lookup implements admission.Lookup.
type lookup struct{ s *Registry }

func (l lookup) Now() time.Time { return l.s.Now() }
func (l lookup) Authorize(a *authorization.Attributes) authorization.Decision {
	return l.s.Authorizer.Authorize(a)
}

// Kinds implements admission.Lookup (client-go restmapper: NewDiscoveryRESTMapper).
func (l lookup) Kinds(kind schema.GroupVersionKind) (out []*resources.Resource) {
	for _, r := range l.s.Types.All() {
		if r.Group == kind.Group && r.Version == kind.Version &&
			(r.Kind == kind.Kind || strings.ToLower(r.Kind) == kind.Kind) {
			out = append(out, r)
		}
	}
	return out
}

// NamespaceState implements admission.Lookup.
func (l lookup) NamespaceState(ctx context.Context, name string) (admission.NamespaceState, error) {
	o, err := l.s.Load(ctx, l.s.Root+"/namespaces/"+name)
	switch {
	case err != nil:
		return 0, err
	case o == nil:
		return admission.NamespaceAbsent, nil
	case o.Meta.Deleting():
		return admission.NamespaceTerminating, nil
	}
	return admission.NamespaceActive, nil
}

// NamespaceLabels implements admission.Lookup. It returns the labels of the cached namespace. They are new enough:
// NamespaceLifecycle has made a consistent read, and a create commits only if the namespace is unchanged.
func (l lookup) NamespaceLabels(ctx context.Context, name string) (map[string]string, bool, error) {
	ns, err := l.s.cached(ctx, l.s.Root+"/namespaces/"+name)
	if err != nil || ns == nil {
		return nil, false, err
	}
	return ns.Meta.Labels, true, nil
}

// Any implements admission.Lookup.
func (l lookup) Any(r schema.GroupVersionResource, namespace string) (found bool, err error) {
	t := Target{Resource: l.s.entry(r), Namespace: namespace}
	if t.Resource == nil {
		return false, nil
	}
	err = l.s.ascend(t, func(*storage.Object) bool {
		found = true
		return false
	})
	return found, err
}

// Each implements admission.Lookup.
func (l lookup) Each(ctx context.Context, r schema.GroupVersionResource, namespace string,
	yield func(runtime.Object)) error {
	return l.Undecoded(ctx, r, namespace, func(_ string, decode func() runtime.Object) {
		if obj := decode(); obj != nil {
			yield(obj)
		}
	})
}

// Undecoded implements admission.Lookup.
func (l lookup) Undecoded(ctx context.Context, r schema.GroupVersionResource, namespace string,
	yield func(controller string, decode func() runtime.Object)) error {
	t := Target{Resource: l.s.entry(r), Namespace: namespace}
	if t.Resource == nil {
		return nil
	}
	if err := l.s.Fresh(ctx); err != nil {
		return err
	}
	return l.s.ascend(t, func(item *storage.Object) bool {
		yield(item.Meta.Controller(), func() runtime.Object {
			obj, err := Decode(t.Resource, item)
			if err != nil {
				l.s.Unreadable(item.Key, err, "omitted")
				return nil
			}
			return obj
		})
		return true
	})
}

// Get implements admission.Lookup.
func (l lookup) Get(ctx context.Context, r schema.GroupVersionResource, namespace, name string,
	patience time.Duration) (runtime.Object, error) {
	t := Target{Resource: l.s.entry(r), Namespace: namespace, Name: name}
	if t.Resource == nil {
		return nil, nil
	}
	item, err := l.s.Load(ctx, t.Key(l.s.Root))
	if err == nil && item == nil && patience > 0 {
		item, err = l.s.await(ctx, t, patience)
	}
	if err != nil || item == nil {
		return nil, err
	}
	return Decode(t.Resource, item)
}

// UpdateStatus implements admission.Lookup.
func (l lookup) UpdateStatus(ctx context.Context, r schema.GroupVersionResource, obj runtime.Object) error {
	m := obj.(metav1.Object)
	p := Path{Resource: l.s.entry(r), Subresource: "status", Namespace: m.GetNamespace(), Name: m.GetName()}
	_, err := l.s.AsServer("kube-apiserver").Update(ctx, p, obj)
	return err
}

// entry returns the entry of a resource, or nil if it is not served.
func (s *Registry) entry(r schema.GroupVersionResource) *resources.Resource {
	return s.Types.Lookup(r.Group, r.Version, r.Resource)
}

// await returns an object as soon as it exists, or nil if it does not exist within patience.
func (s *Registry) await(ctx context.Context, t Target, patience time.Duration) (*storage.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := s.Cache.Watch(t.Resource.Collection, s.Cache.Revision())
	for err == nil {
		if o, _ := s.Cache.Get(t.Key(s.Root)); o != nil {
			return s.readable(o)
		}
		if _, _, err = w.Next(ctx); ctx.Err() != nil {
			return nil, nil
		}
	}
	return nil, err
}

// Objects returns the functions with which policies read objects.
func (s *Registry) Objects() Objects { return Objects{s} }

// Objects implements dynamic.Objects.
type Objects struct{ s *Registry }

// One implements dynamic.Objects. The request has already made a consistent read.
func (b Objects) One(ctx context.Context, res *resources.Resource, namespace, name string) (*storage.Object, error) {
	item, err := b.s.cached(ctx, Target{Resource: res, Namespace: namespace, Name: name}.Key(b.s.Root))
	if err != nil || item == nil {
		return nil, err
	}
	return b.s.readable(item)
}

// Each implements dynamic.Objects.
func (b Objects) Each(res *resources.Resource, namespace string, yield func(*storage.Object)) error {
	return b.s.ascend(Target{Resource: res, Namespace: namespace}, func(item *storage.Object) bool {
		yield(item)
		return true
	})
}

// Served implements dynamic.Objects.
func (b Objects) Served(res *resources.Resource, item *storage.Object) (runtime.Object, error) {
	obj, err := Decode(res, item)
	if err != nil {
		return nil, err
	}
	return served(res, obj)
}
