package loopback

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// The types of requests, of stored objects and of their changes, and of the entries of the table of types.
type (
	Path   = registry.Path
	Object = storage.Object
	Event  = cache.Event
	Type   = resources.Resource
)

// The types of an Event that matter to controllers.
const (
	Added   = cache.Added
	Deleted = cache.Deleted
)

// Client makes the requests of one controller with its identity. It implements workload.API.
type Client struct {
	API   *registry.Loopback
	Cache *cache.Cache
	// Index may be shared.
	Index *Index
}

// View implements workload.API.
func (c *Client) View(ctx context.Context, f func(workload.Reader)) error {
	if err := c.API.Fresh(ctx); err != nil {
		return err
	}
	return c.Index.read(ctx, f)
}

// Glance implements workload.API.
func (c *Client) Glance(f func(workload.Reader)) error {
	return c.Index.read(context.Background(), f) // events that were sent are in the cache already
}

func (c *Client) resource(r workload.Resource) *resources.Resource {
	return c.API.Types().Lookup(r.Group, r.Version, r.Plural)
}

func (c *Client) path(o workload.Object) registry.Path {
	return registry.Path{Resource: c.resource(workload.Of(o)), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Follow implements workload.API.
func (c *Client) Follow(
	ctx context.Context, first workload.Resource, others []workload.Resource, sink func(workload.Change),
) error {
	byCollection := map[string]workload.Resource{}
	var collections []string
	for _, r := range append([]workload.Resource{first}, others...) {
		collection := c.resource(r).Collection
		if !slices.Contains(collections, collection) {
			collections = append(collections, collection)
		}
		byCollection[collection] = r
	}
	return Feed{Cache: c.Cache, First: collections[0], Collections: collections,
		Begin: func(state iter.Seq[*storage.Object]) {
			sink(workload.Change{})
			for o := range state {
				sink(workload.Change{Resource: first, New: c.metaOf(first, o)})
			}
		},
		Each: func(e *cache.Event) error {
			change := workload.Change{Resource: byCollection[e.Collection]}
			if e.Type == cache.Deleted {
				change.Old = c.metaOf(change.Resource, e.Object)
			} else {
				change.New = c.metaOf(change.Resource, e.Object)
				if e.Prev != nil {
					change.Old = c.metaOf(change.Resource, e.Prev)
				}
			}
			sink(change)
			return nil
		},
	}.Follow(ctx)
}

// metaOf returns an object's metadata for a controller.
func (c *Client) metaOf(r workload.Resource, o *storage.Object) *workload.Meta {
	m := &workload.Meta{Key: workload.Key{Namespace: o.Meta.Namespace, Name: o.Meta.Name}, UID: types.UID(o.Meta.UID),
		Labels: o.Meta.Labels, Finalizers: o.Meta.Finalizers, Deleting: o.Meta.Deleting()}
	if r == workload.Pods {
		if o.Err == nil {
			m.Node = o.Fields[slices.Index(c.resource(r).FieldNames, "spec.nodeName")]
		}
		m.Mentions = func(text string) bool { return bytes.Contains(o.JSON, []byte(text)) }
		m.Claims = func() ([]string, error) { return claimsOf(&entry{Object: o}) }
	}
	for _, owner := range o.Meta.Owners {
		if owner.Controller {
			m.Controller = workload.Owner{
				APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: types.UID(owner.UID),
			}
			break
		}
	}
	return m
}

// Lookup returns an object by a consistent read, without its managedFields; NotFound if there is none.
func (c *Client) Lookup(ctx context.Context, r workload.Resource, key workload.Key) (workload.Object, error) {
	o, err := c.API.Get(ctx, registry.Path{Resource: c.resource(r), Namespace: key.Namespace, Name: key.Name})
	if err != nil {
		return nil, err
	}
	return decode(r, o)
}

// Create implements workload.API.
func (c *Client) Create(ctx context.Context, o workload.Object) (string, error) {
	p := c.path(o)
	p.Name = ""
	next, err := c.stored(o)
	if err != nil {
		return "", err
	}
	out, err := c.API.Create(ctx, p, next)
	if err != nil {
		return "", err
	}
	return out.Meta.Name, nil
}

// Update implements workload.API.
func (c *Client) Update(ctx context.Context, o workload.Object, status bool) error {
	p := c.path(o)
	if status {
		p.Subresource = "status"
	}
	_, err := c.API.Change(ctx, p, func(old runtime.Object) (runtime.Object, error) {
		next, err := c.stored(o)
		if err != nil {
			return nil, err
		}
		next.SetManagedFields(old.(workload.Object).GetManagedFields())
		return next, nil
	})
	return err
}

// ApplyStatus implements workload.API.
func (c *Client) ApplyStatus(ctx context.Context, o workload.Object) error {
	r, p := workload.Of(o), c.path(o)
	p.Subresource = "status"
	content, err := json.Marshal(o)
	var status struct{ Status json.RawMessage }
	if err == nil {
		err = json.Unmarshal(content, &status)
	}
	if err != nil {
		return err
	}
	metadata := map[string]any{"name": o.GetName()}
	if v := o.GetNamespace(); v != "" {
		metadata["namespace"] = v
	}
	if v := o.GetResourceVersion(); v != "" {
		metadata["resourceVersion"] = v
	}
	document, err := json.Marshal(map[string]any{
		"apiVersion": r.APIVersion(), "kind": r.Kind, "metadata": metadata, "status": status.Status,
	})
	if err == nil {
		_, err = c.API.Apply(ctx, p, document)
	}
	return err
}

// stored returns a copy of an object in its stored version, which the registry expects from its own process.
func (c *Client) stored(o workload.Object) (workload.Object, error) {
	r := c.resource(workload.Of(o))
	next := o.DeepCopyObject()
	if r.ToStored == nil || r.Custom {
		return next.(workload.Object), nil
	}
	next, err := r.ToStored(next)
	if err != nil {
		return nil, err
	}
	next.GetObjectKind().SetGroupVersionKind(r.Stored)
	return next.(workload.Object), nil
}

// Bind implements workload.API.
func (c *Client) Bind(ctx context.Context, pod *corev1.Pod, node string) error {
	p := c.path(pod)
	p.Subresource = "binding"
	_, err := c.API.Post(ctx, p, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node}})
	return err
}

// Delete implements workload.API.
func (c *Client) Delete(
	ctx context.Context, r workload.Resource, key workload.Key, opts *metav1.DeleteOptions,
) error {
	_, err := c.API.Delete(ctx, registry.Path{Resource: c.resource(r), Namespace: key.Namespace, Name: key.Name}, opts)
	return err
}

// CreateEvent implements workload.EventAPI.
func (c *Client) CreateEvent(ctx context.Context, e *corev1.Event) error {
	return createEvent(ctx, c.API, e)
}

// CountEvent implements workload.EventAPI.
func (c *Client) CountEvent(ctx context.Context, e *corev1.Event) error {
	return countEvent(ctx, c.API, e, func(stored *corev1.Event) {
		stored.Count, stored.Message, stored.LastTimestamp = e.Count, e.Message, e.LastTimestamp
	})
}

// eventPath returns the path of an Event, or of its collection if name is empty.
func eventPath(api *registry.Loopback, e *corev1.Event, name string) registry.Path {
	return registry.Path{Resource: api.Types().Lookup("", "v1", "events"), Namespace: e.Namespace, Name: name}
}

func createEvent(ctx context.Context, api *registry.Loopback, e *corev1.Event) error {
	_, err := api.Create(ctx, eventPath(api, e, ""), e)
	return err
}

// countEvent increments the count of the stored Event of e's name.
func countEvent(ctx context.Context, api *registry.Loopback, e *corev1.Event, count func(stored *corev1.Event)) error {
	_, err := api.Change(ctx, eventPath(api, e, e.Name), func(old runtime.Object) (runtime.Object, error) {
		stored, ok := old.(*corev1.Event)
		if !ok {
			return nil, fmt.Errorf("counting an event: %T is not an Event", old)
		}
		count(stored)
		return stored, nil
	})
	return err
}
