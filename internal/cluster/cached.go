package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// cached is the Source of a server's cache at one revision, which was the newest one when it was made.
type cached struct {
	*Server
	user     authorization.User
	revision int64
	// generation is that of the types, of which resources has those with objects in the cache, by collection.
	generation uint64
	resources  map[string]*Resource
	snapshots  map[string]*cache.Snapshot
}

// open returns a source for a user. It is not older than the store at the time of the call.
func (s *Server) open(ctx context.Context, user authorization.User) (*cached, error) {
	revision, err := s.Revision(ctx)
	if err == nil {
		err = s.Cache.Wait(ctx, revision)
	}
	if err != nil {
		return nil, err
	}
	c := &cached{
		Server: s, user: user, generation: s.Types.Generation(), resources: map[string]*Resource{},
		snapshots: map[string]*cache.Snapshot{},
	}
	var all []*cache.Snapshot
	c.revision, all = s.Cache.Everything()
	for _, one := range all {
		c.snapshots[one.Collection()] = one
	}
	return c, nil
}

// Discover implements Source, as the methods below do. It is called once.
func (c *cached) Discover(context.Context) (*Discovery, error) {
	d := discover(c.Types)
	for _, r := range d.Resources {
		c.resources[c.collection(r)] = r
	}
	return d, nil
}

// collection returns that of a resource; empty if its objects are not stored.
func (c *cached) collection(r *Resource) string {
	if entry := c.Types.Lookup(r.Group, r.Versions[0], r.Plural); entry != nil {
		return entry.Collection
	}
	return ""
}

func (c *cached) Revision() int64 { return c.revision }

// Complete implements Source: List has everything.
func (c *cached) Complete(context.Context, *Discovery, *explain.Cluster, string) error { return nil }

// List implements Source.
func (c *cached) List(_ context.Context, r *Resource, s Selector) (objects []explain.Object, err error) {
	stored, err := c.selected(r, s)
	if err != nil {
		return nil, err
	}
	p := newPods(c.Types, r)
	if snapshot := c.snapshots[c.collection(r)]; snapshot != nil && s == (Selector{}) {
		objects = make([]explain.Object, 0, snapshot.Len())
	}
	for o := range stored {
		objects = append(objects, completeOf(r, o, p))
	}
	return objects, nil
}

// Whole implements Source. Objects of another form, as only etcd itself can have got them, are left out.
func (c *cached) Whole(_ context.Context, r *Resource, s Selector, into any) error {
	stored, err := c.selected(r, s)
	if err != nil {
		return err
	}
	items := reflect.ValueOf(into).Elem().FieldByName("Items")
	for o := range stored {
		one := reflect.New(items.Type().Elem())
		if json.Unmarshal(o.JSON, one.Interface()) == nil {
			items.Set(reflect.Append(items, one.Elem()))
		}
	}
	return nil
}

// selected returns the readable objects of a resource that are selected, if the user may list them, or get the one.
// Objects that are made for each request, such as PodMetrics, are not in the cache.
func (c *cached) selected(r *Resource, s Selector) (iter.Seq[*storage.Object], error) {
	if err := c.allowed(r, s); err != nil {
		return nil, err
	}
	if c.collection(r) == "" {
		err := apierrors.NewMethodNotSupported(schema.GroupResource{Group: r.Group, Resource: r.Plural}, "list")
		err.ErrStatus.Message = "objects of " + r.Name() + " are not stored"
		return nil, err
	}
	matches, err := labels.Parse(s.Labels)
	if err != nil {
		return nil, err
	}
	return func(yield func(*storage.Object) bool) {
		if snapshot := c.snapshots[c.collection(r)]; snapshot != nil {
			snapshot.Ascend("", "", func(o *storage.Object) bool {
				m := &o.Meta
				return o.Err != nil || s.Namespace != "" && m.Namespace != s.Namespace || s.Name != "" && m.Name != s.Name ||
					!matches.Matches(labels.Set(m.Labels)) || yield(o)
			})
		}
	}, nil
}

// allowed is the 403 if the user may not list the objects, or get the one.
func (c *cached) allowed(r *Resource, s Selector) error {
	a := &authorization.Attributes{
		User: c.user, Verb: "list", IsResource: true, Path: r.Path(s.Namespace), Group: r.Group, Version: r.Versions[0],
		Resource: r.Plural, Namespace: s.Namespace,
	}
	if s.Name != "" {
		a.Verb, a.Name, a.Path = "get", s.Name, a.Path+"/"+s.Name
		if r.Delete.Namespace { // AS pkg/endpoints/request/requestinfo.go: NewRequestInfo
			a.Namespace = s.Name
		}
	}
	if decision := c.Authorizer().Authorize(a); !decision.Allowed() {
		return requestinfo.Forbidden(a, decision.Reason())
	}
	return nil
}

func (c *cached) Watch(ctx context.Context, _ *Discovery, yield func(Event) error) error {
	c.snapshots = nil // they would keep in memory what is changed from now on
	w, err := c.Cache.Timeline(c.revision)
	for {
		var events []*cache.Event
		if err == nil {
			events, _, err = w.Poll()
		}
		switch {
		case errors.Is(err, cache.ErrExpired) || c.generation != c.Types.Generation():
			return errExpired
		case err != nil:
			return err
		}
		for _, e := range events {
			if r := c.shown(e); r != nil {
				one := Event{Object: storedOf(r, e.Object), Deleted: e.Type == cache.Deleted, Revision: e.Revision}
				if err := yield(one); err != nil {
					return err
				}
			}
		}
		if len(events) == 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-w.Changed():
			}
		}
	}
}

// shown returns the resource of an event, if the user may list the object.
func (c *cached) shown(e *cache.Event) *Resource {
	r := c.resources[e.Collection]
	if r == nil || r.Inert || e.Object.Err != nil || r.Hides(e.Object.Meta.Namespace) {
		return nil
	}
	return r
}

// Past implements Source. Times are known as far as the objects and the trail tell.
func (c *cached) Past(yield func(before, after *explain.Object, revision int64, at time.Time)) {
	var expired *cache.ExpiredError
	w, err := c.Cache.Timeline(0)
	if errors.As(err, &expired) {
		w, err = c.Cache.Timeline(expired.Oldest)
	}
	for err == nil {
		var events []*cache.Event
		if events, _, err = w.Poll(); len(events) == 0 {
			return
		}
		for _, e := range events {
			r := c.shown(e)
			if r == nil || e.Revision > c.revision || e.Prev != nil && e.Prev.Err != nil {
				continue
			}
			var before, after *explain.Object
			if e.Prev != nil {
				before = new(storedOf(r, e.Prev))
			}
			if e.Type != cache.Deleted {
				after = new(storedOf(r, e.Object))
			}
			if before != nil || after != nil {
				yield(before, after, e.Revision, c.when(before, after))
			}
		}
	}
}

// when is the time of a change; zero if it is not known.
func (c *cached) when(before, after *explain.Object) (at time.Time) {
	switch {
	case before == nil:
		return after.Created
	case after == nil && c.Removed != nil:
		return c.Removed(before.UID)
	case after != nil && before.Deletion.IsZero() && !after.Deletion.IsZero():
		return after.Begun()
	}
	return at
}

// Waiting implements Source: for users who may read metrics.
func (c *cached) Waiting() *int {
	if c.Queue == nil || !c.Authorizer().Authorize(&authorization.Attributes{
		User: c.user, Verb: "get", Path: "/metrics",
	}).Allowed() {
		return nil
	}
	if n, ok := c.Queue(); ok {
		return &n
	}
	return nil
}
