package registry

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Plugins returns the admission plugins in the order in which they run.
func (s *Registry) Plugins() []admission.Choice {
	return admission.All(lookup{s}, s.Dynamic.Plugins()...)
}

// Lookup returns what admission plugins read.
func (s *Registry) Lookup() admission.Lookup { return lookup{s} }

// AdmissionCopies returns how many versions of a request's objects may be made at a time for webhooks and policies, and
// how many reviews.
func (s *Registry) AdmissionCopies(o *Operation, verb string) (versions, reviews int) {
	if s.Dynamic == nil {
		return 0, 0
	}
	operations := []admission.Operation{admission.Update, admission.Create}
	switch verb {
	case "create":
		operations = operations[1:]
	case "delete", "deletecollection":
		operations = []admission.Operation{admission.Delete}
	case "update", "patch":
	default:
		return 0, 0
	}
	for _, operation := range operations {
		v, r := s.Dynamic.Copies(o.Resource, o.subName(), operation, o.Namespace != "")
		versions, reviews = max(versions, v), max(reviews, r)
	}
	return versions, reviews
}

// concerned reports whether a webhook or policy may concern an operation on what o names.
func (s *Registry) concerned(o *Operation, operation admission.Operation) bool {
	return s.Dynamic != nil && s.Dynamic.Concerns(o.Resource, o.subName(), operation, o.Namespace != "")
}

// Escalation returns the plugin that prevents privilege escalation. It needs the authorization mode RBAC.
func (s *Registry) Escalation() admission.Plugin {
	return &admission.Escalation{Authorize: s.Authorizer.Authorize, RoleRules: s.Roles.RoleRules, Rules: s.Roles.Rules}
}

// Params returns the plugin that checks who writes policies with params.
func (s *Registry) Params() admission.Plugin { return admission.ParamsOf(lookup{s}) }

// lookup implements admission.Lookup.
type lookup struct{ s *Registry }

func (l lookup) Now() time.Time { return l.s.Now() }
func (l lookup) Authorize(a *authorization.Attributes) authorization.Decision {
	return l.s.Authorizer.Authorize(a)
}
func (l lookup) GenerateName(prefix string) string { return generatedName(prefix) }

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

// NamespaceLabels implements admission.Lookup. It returns the labels of the cached namespace: NamespaceLifecycle has
// made a consistent read before, and a create commits only if the namespace is unchanged. Only if the namespace is
// missing a consistent read follows.
func (l lookup) NamespaceLabels(ctx context.Context, name string) (map[string]string, bool, error) {
	key := l.s.Root + "/namespaces/" + name
	ns, _ := l.s.Cache.Get(key)
	if ns == nil {
		var err error
		if ns, err = l.s.Load(ctx, key); err != nil || ns == nil {
			return nil, false, err
		}
	}
	return ns.Meta.Labels, true, nil
}

// Any implements admission.Lookup.
func (l lookup) Any(r schema.GroupVersionResource, namespace string) (bool, error) {
	res := l.s.entry(r)
	if res == nil {
		return false, nil
	}
	snap, err := l.s.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return false, err
	}
	found := false
	snap.Ascend(l.s.within(res, namespace), "", func(*storage.Object) bool {
		found = true
		return false
	})
	return found, nil
}

// Each implements admission.Lookup.
func (l lookup) Each(ctx context.Context, r schema.GroupVersionResource, namespace string,
	yield func(runtime.Object)) error {
	o := Operation{Target: Target{Resource: l.s.entry(r)}}
	return l.scan(ctx, o.Resource, namespace, func(item *storage.Object) {
		obj, err := o.Decode(item)
		if err != nil {
			l.s.Unreadable(item.Key, err, "omitted")
			return
		}
		yield(obj)
	})
}

// Undecoded implements admission.Lookup.
func (l lookup) Undecoded(ctx context.Context, r schema.GroupVersionResource, namespace string,
	yield func(controller string, decode func() runtime.Object)) error {
	o := Operation{Target: Target{Resource: l.s.entry(r)}}
	return l.scan(ctx, o.Resource, namespace, func(item *storage.Object) {
		yield(controllerOf(item), func() runtime.Object {
			obj, err := o.Decode(item)
			if err != nil {
				l.s.Unreadable(item.Key, err, "omitted")
				return nil
			}
			return obj
		})
	})
}

// scan calls yield for the stored objects of a resource; namespace "" selects all namespaces.
func (l lookup) scan(ctx context.Context, res *resources.Resource, namespace string,
	yield func(*storage.Object)) error {
	if res == nil {
		return nil
	}
	if err := l.s.Fresh(ctx); err != nil {
		return err
	}
	return objects(l).Each(res, namespace, yield)
}

// Get implements admission.Lookup.
func (l lookup) Get(ctx context.Context, r schema.GroupVersionResource, namespace, name string) (
	runtime.Object, error) {
	o := Operation{Target: Target{Resource: l.s.entry(r), Namespace: namespace, Name: name}}
	if o.Resource == nil {
		return nil, nil
	}
	item, err := l.s.Load(ctx, o.Key(l.s.Root))
	if err != nil || item == nil {
		return nil, err
	}
	return o.Decode(item)
}

// Await implements admission.Lookup.
func (l lookup) Await(ctx context.Context, r schema.GroupVersionResource, namespace, name string,
	patience time.Duration) (runtime.Object, error) {
	o := Operation{Target: Target{Resource: l.s.entry(r), Namespace: namespace, Name: name}}
	if o.Resource == nil {
		return nil, nil
	}
	item, err := l.s.await(ctx, o.Resource.Collection, o.Key(l.s.Root), patience)
	if err != nil || item == nil {
		return nil, err
	}
	return o.Decode(item)
}

// UpdateStatus implements admission.Lookup.
func (l lookup) UpdateStatus(ctx context.Context, r schema.GroupVersionResource, obj runtime.Object) error {
	m := obj.(metav1.Object)
	p := Path{Resource: l.s.entry(r), Subresource: "status", Namespace: m.GetNamespace(), Name: m.GetName()}
	_, err := l.s.Loopback(authentication.Loopback, "kube-apiserver").Update(ctx, p, obj)
	return err
}

// entry returns the entry of a resource, nil if it is not served.
func (s *Registry) entry(r schema.GroupVersionResource) *resources.Resource {
	return s.Types.Lookup(r.Group, r.Version, r.Resource)
}

// within is the key prefix of a namespace.
func (s *Registry) within(res *resources.Resource, namespace string) string {
	return s.Root + "/" + res.Collection + "/" + namespace + "/"
}

// await returns an object of a collection as soon as it exists, nil if it does not within patience.
func (s *Registry) await(ctx context.Context, collection, key string, patience time.Duration) (*storage.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := s.Cache.Watch(collection, s.Cache.Revision())
	for err == nil {
		if o, _ := s.Cache.Get(key); o != nil {
			return s.readable(o)
		}
		if _, _, err = w.Next(ctx); ctx.Err() != nil {
			return nil, nil
		}
	}
	return nil, err
}

// controllerOf returns the UID of the owner that controls the object; empty if there is none.
func controllerOf(o *storage.Object) string {
	for _, owner := range o.Meta.Owners {
		if owner.Controller {
			return owner.UID
		}
	}
	return ""
}
