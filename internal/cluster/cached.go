package cluster

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// cached is a Source that reads a server's cache at one revision: the newest one when the Source was made. It reads and
// watches the objects of aggregated servers as the user.
type cached struct {
	*Server
	user     authorization.User
	others   *Client
	late     time.Time // the end of the lists of aggregated servers
	revision int64
	// generation is the generation of the types. resources has the types with objects in the cache, by collection.
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
		snapshots: map[string]*cache.Snapshot{}, others: &Client{URL: "https://aggregated", HTTP: s.As(user)},
		late: time.Now().Add(otherTime),
	}
	var all []*cache.Snapshot
	c.revision, all = s.Cache.Everything()
	for _, one := range all {
		c.snapshots[one.Collection()] = one
	}
	return c, nil
}

// Discover implements Source. It is called once.
func (c *cached) Discover(context.Context) (*Discovery, error) {
	d := Served(c.Types)
	for _, r := range d.Resources {
		c.resources[r.Stored] = r
	}
	others, stale := c.Others()
	for _, gv := range stale {
		d.fail(gv.Group, gv.Version, "its server does not answer")
	}
	for _, r := range others {
		// Others, such as metrics, are in no cascade.
		if slices.Contains(r.Verbs, "delete") && len(path.IsValidPathSegmentName(r.Name)) == 0 {
			added := d.Add(r.Group, r.Version, r)
			added.Elsewhere = c.Types.Lookup(r.Group, added.Versions[0], r.Name) == nil
		}
	}
	return d, nil
}

// Revision implements Source.
func (c *cached) Revision() int64 { return c.revision }

// List implements Source. It fails if the user may not list the objects or, with a name, get the object, or if one of
// them can't be decoded. Objects that are made for each request, such as PodMetrics, are not in the cache.
func (c *cached) List(ctx context.Context, r *Resource, s Selector, yield func(*explain.Object, []byte)) error {
	if err := c.allowed(r, s); err != nil {
		return err
	}
	switch {
	case r.Elsewhere:
		ctx, cancel := context.WithDeadline(ctx, c.late)
		defer cancel()
		err := c.others.List(ctx, r, s, yield)
		if failed, ok := errors.AsType[*url.Error](err); ok { // the objects are not known
			err = apierrors.NewServiceUnavailable(failed.Err.Error())
		}
		return err
	case r.Stored == "":
		err := apierrors.NewMethodNotSupported(schema.GroupResource{Group: r.Group, Resource: r.Plural}, "list")
		err.ErrStatus.Message = "objects of " + r.Name() + " are not stored"
		return err
	}
	name := r.Name()
	if s.Newest {
		now, err := c.open(ctx, c.user)
		if err != nil {
			return err
		}
		c = now
	}
	matches, err := labels.Parse(s.Labels)
	if snapshot := c.snapshots[r.Stored]; err == nil && snapshot != nil {
		for o := range snapshot.Ascend("", "") {
			m := &o.Meta
			selected := (s.Namespace == "" || m.Namespace == s.Namespace) && (s.Name == "" || m.Name == s.Name)
			if selected && o.Err != nil {
				return o.Err
			} else if selected && matches.Matches(labels.Set(m.Labels)) {
				yield(storedOf(name, o), o.JSON)
			}
		}
	}
	return err
}

// allowed returns the 403 if the user may not list the objects or, with a name, get the object.
func (c *cached) allowed(r *Resource, s Selector) error {
	a := &authorization.Attributes{
		User: c.user, Verb: "list", IsResource: true, Path: r.path(s.Namespace), Group: r.Group, Version: r.Versions[0],
		Resource: r.Plural, Namespace: s.Namespace,
	}
	if s.Name != "" && !s.Newest { // who may list the objects may look one up
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

// Watch implements Source.
func (c *cached) Watch(ctx context.Context, d *Discovery, yield func(Event) error) error {
	others := slices.DeleteFunc(slices.Clone(d.Resources), func(r *Resource) bool { return !r.Elsewhere })
	changed := func(ctx context.Context) (bool, error) { return c.changed(ctx, d), nil }
	return c.others.together(ctx, others, yield, changed, c.watch)
}

// watch sends the events of the cache.
func (c *cached) watch(ctx context.Context, yield func(Event) error) error {
	c.snapshots = nil // they would keep objects in memory that are replaced from now on
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
			if one, ok := c.event(e); ok {
				if err := yield(one); err != nil {
					return err
				}
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.Changed():
		}
	}
}

// changed reports whether there are other resources, the user has lost the right to list one since they were listed, or
// one that could not be listed can be listed now.
func (c *cached) changed(ctx context.Context, d *Discovery) bool {
	now, err := c.open(ctx, c.user)
	if err != nil {
		return false
	}
	found, _ := now.Discover(ctx) // it has no error
	return !d.same(found) || slices.ContainsFunc(d.Resources, func(r *Resource) bool {
		switch {
		case !r.followed():
			return false
		case r.Unknown == "":
			return now.allowed(r, Selector{}) != nil
		}
		return now.List(ctx, r, Selector{First: 1}, func(*explain.Object, []byte) {}) == nil
	})
}

// event returns the parts of an event that a stream needs; ok is false if the user may not list the object.
func (c *cached) event(e *cache.Event) (out Event, ok bool) {
	r := c.resources[e.Collection]
	if r == nil || r.Inert || e.Object.Err != nil || r.Hides(e.Object.Meta.Namespace) {
		return out, false
	}
	out.Revision = e.Revision
	if e.Prev != nil && e.Prev.Err == nil {
		out.Before = storedOf(r.Name(), e.Prev)
	}
	if e.Type != cache.Deleted {
		out.After = storedOf(r.Name(), e.Object)
	}
	return out, out.Before != nil || out.After != nil
}

// Past implements Source. Times are known as far as the objects and the trail have them.
func (c *cached) Past(yield func(e Event, at time.Time)) {
	w, err := c.Cache.Timeline(0)
	if expired, ok := errors.AsType[*cache.ExpiredError](err); ok {
		w, err = c.Cache.Timeline(expired.Oldest)
	}
	for err == nil {
		var events []*cache.Event
		if events, _, err = w.Poll(); len(events) == 0 {
			return
		}
		for _, e := range events {
			if one, ok := c.event(e); ok && e.Revision <= c.revision {
				yield(one, c.when(&one))
			}
		}
	}
}

// when returns the time of a change; zero if it is not known.
func (c *cached) when(e *Event) (at time.Time) {
	switch {
	case e.Before == nil:
		return e.After.Created
	case e.After == nil && c.Removed != nil:
		return c.Removed(e.Before.UID)
	case e.After != nil && e.Before.Deletion.IsZero():
		return e.After.Begun() // zero if it is live
	}
	return at
}

// Waiting implements Source. It returns nil for users who may not read metrics.
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
