package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Namespaces implements namespace.API.
type Namespaces struct {
	API   *registry.Loopback
	Cache *cache.Cache
	// Others sends requests to the servers of APIServices; nil for none.
	Others Aggregator
}

const namespaces = "namespaces"

// Follow implements namespace.API with the timeline of all collections.
func (n *Namespaces) Follow(ctx context.Context, sink func(namespace.Event)) error {
	var f namespaceFeed
	return Feed{Cache: n.Cache, First: namespaces,
		Begin: func(state iter.Seq[*storage.Object]) {
			f = namespaceFeed{deleting: map[string]bool{}, sink: sink}
			for o := range state {
				f.exists(o)
			}
		},
		Each: func(e *cache.Event) error {
			f.handle(e)
			return nil
		},
	}.Follow(ctx)
}

// namespaceFeed sends events that affect namespaces. It belongs to one goroutine.
type namespaceFeed struct {
	// deleting has the namespaces that are being deleted.
	deleting map[string]bool
	sink     func(namespace.Event)
}

// handle sends the events that affect a namespace: its own and, while it is being deleted, the removals of its objects.
func (f *namespaceFeed) handle(e *cache.Event) {
	switch m := &e.Object.Meta; {
	case e.Collection == namespaces && e.Type == cache.Deleted:
		delete(f.deleting, m.Name)
		f.sink(namespace.Event{Type: namespace.Gone, Namespace: m.Name, Revision: e.Revision})
	case e.Collection == namespaces:
		f.exists(e.Object)
	case e.Type == cache.Deleted && f.deleting[m.Namespace]:
		f.sink(namespace.Event{Type: namespace.Removed, Namespace: m.Namespace, Revision: e.Revision})
	}
}

// exists sends the state of a namespace that exists.
func (f *namespaceFeed) exists(o *storage.Object) {
	deleting := o.Meta.Deleting()
	if deleting {
		f.deleting[o.Meta.Name] = true
	} else {
		delete(f.deleting, o.Meta.Name)
	}
	f.sink(namespace.Event{Type: namespace.Exists, Namespace: o.Meta.Name, Revision: o.Revision, Deleting: deleting})
}

func (n *Namespaces) path(sub, name string) registry.Path {
	return registry.Path{Resource: n.API.Types().Lookup("", "v1", namespaces), Subresource: sub, Name: name}
}

// Get implements namespace.API.
func (n *Namespaces) Get(ctx context.Context, name string) (*corev1.Namespace, error) {
	return Typed[corev1.Namespace](n.API.Get(ctx, n.path("", name)))
}

// UpdateStatus implements namespace.API.
func (n *Namespaces) UpdateStatus(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	return Typed[corev1.Namespace](n.API.Update(ctx, n.path("status", ns.Name), ns))
}

// Finalize implements namespace.API.
func (n *Namespaces) Finalize(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error) {
	api := n.API.Because(trail.NamespaceEmpty, nil)
	return Typed[corev1.Namespace](api.Update(ctx, n.path("finalize", ns.Name), ns))
}

// Typed decodes the result of a request.
func Typed[T any](o *storage.Object, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(o.JSON, out); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	return out, nil
}

// Resources implements namespace.API: each stored type once, in its storage version, and the types of other servers.
func (n *Namespaces) Resources() (out []namespace.Resource, err error) {
	for _, r := range n.API.Types().All() {
		if r.Namespaced && r.Collection != "" && r.ToStored == nil && r.Has("delete") {
			out = append(out, namespace.Resource{
				GroupVersionResource: r.GroupVersion().WithResource(r.Plural), Collection: r.Has("deletecollection")})
		}
	}
	if n.Others == nil {
		return out, nil
	}
	others, err := n.others()
	return append(out, others...), err
}

func (n *Namespaces) within(r namespace.Resource, ns, name string) (registry.Path, error) {
	res := n.API.Types().Lookup(r.Group, r.Version, r.Resource)
	if res == nil {
		return registry.Path{}, apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Resource}, name)
	}
	return registry.Path{Resource: res, Namespace: ns, Name: name}, nil
}

func background() *metav1.DeleteOptions {
	return &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: new(metav1.DeletePropagationBackground)}
}

// Delete implements namespace.API (E-10).
func (n *Namespaces) Delete(ctx context.Context, r namespace.Resource, ns, name string) error {
	if r.Elsewhere {
		_, err := n.ask(ctx, http.MethodDelete, r, ns, name, "", background())
		return err
	}
	p, err := n.within(r, ns, name)
	if err == nil && name == "" {
		err = n.deleting(ns).DeleteCollection(ctx, p, background())
	} else if err == nil {
		_, err = n.deleting(ns).Delete(ctx, p, background())
	}
	return err
}

// deleting returns the client that deletes the content of a namespace.
func (n *Namespaces) deleting(name string) *registry.Loopback {
	owner := trail.Object{APIVersion: "v1", Kind: "Namespace", Name: name}
	if o, _ := n.Cache.Get(n.API.Key(n.path("", "").Resource, "", name)); o != nil {
		owner.UID = o.Meta.UID
	}
	return n.API.Because(trail.NamespaceDeleted, []trail.Object{owner})
}

// Metadata implements namespace.API.
func (n *Namespaces) Metadata(ctx context.Context, r namespace.Resource, ns string) ([]namespace.Item, int64, error) {
	if r.Elsewhere {
		return n.metadataElsewhere(ctx, r, ns)
	}
	p, err := n.within(r, ns, "")
	if err != nil {
		return nil, 0, err
	}
	if err := n.API.Fresh(ctx); err != nil {
		return nil, 0, err
	}
	revision := n.Cache.Revision()
	objs, err := n.API.List(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	items := make([]namespace.Item, 0, len(objs))
	for _, o := range objs {
		item := namespace.Item{Name: o.Meta.Name, Finalizers: o.Meta.Finalizers, Deleting: o.Meta.Deleting()}
		if err := n.API.Verify(p.Resource, o); err != nil {
			item.Unreadable = err.Error() // it names the key
			items = append(items, item)
			continue
		}
		if p.Resource.Group == "" && p.Resource.Plural == "pods" {
			if err := podState(o, &item); err != nil {
				return nil, 0, err
			}
		}
		items = append(items, item)
	}
	return items, revision, nil
}

// podState reads the fields for the estimate of a pod's deletion (E-12).
func podState(o *storage.Object, item *namespace.Item) error {
	var pod struct {
		Spec struct {
			TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds"`
		} `json:"spec"`
		Status struct {
			Phase corev1.PodPhase `json:"phase"`
		} `json:"status"`
	}
	if err := json.Unmarshal(o.JSON, &pod); err != nil {
		return fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	item.Phase, item.GraceSeconds = pod.Status.Phase, pod.Spec.TerminationGracePeriodSeconds
	return nil
}
