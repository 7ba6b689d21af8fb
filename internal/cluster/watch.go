package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// watchTime is the maximum duration of a watch; the server may end it earlier. lateness is the time after that at which
// a watch without a response is abandoned.
const (
	watchTime = 5 * time.Minute
	lateness  = 30 * time.Second
)

// rediscover is the interval at which discovery is read again during watches.
const rediscover = time.Minute

// Watch implements Source: a watch of each resource, and discovery again and again. Resources that fail are watched
// again after a pause.
func (c *Client) Watch(ctx context.Context, d *Discovery, yield func(Event) error) error {
	return c.together(ctx, d.Resources, yield, func(ctx context.Context) (bool, error) { return c.probe(ctx, d) })
}

// together watches resources, calls changed repeatedly, and other functions that send events. The first error ends all.
func (c *Client) together(ctx context.Context, all []*Resource, yield func(Event) error,
	changed func(context.Context) (bool, error), others ...func(context.Context, func(Event) error) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex // one call of yield at a time
	tell := func(e Event) error {
		mu.Lock()
		defer mu.Unlock()
		return yield(e)
	}
	for _, res := range all {
		if res.followed() && (res.Unknown == "" || res.Within != "" && res.Namespaced) {
			g.Go(func() error { return c.follow(ctx, res, tell) })
		}
	}
	for _, other := range others {
		g.Go(func() error { return other(ctx, tell) })
	}
	g.Go(func() error {
		for sleep(ctx, rediscover) {
			expired, err := changed(ctx)
			if expired {
				return errExpired
			}
			if err := tell(stale("discovery", err)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return g.Wait()
}

// Revision implements Source: lists are not of one revision.
func (c *Client) Revision() int64 { return 0 }

// Past implements Source: it is not known.
func (c *Client) Past(func(Event, time.Time)) {}

// Waiting implements Source: it is not known.
func (c *Client) Waiting() *int { return nil }

// stale returns the event that a watch fails, or no longer fails.
func stale(what string, err error) Event {
	if err == nil {
		return Event{Stale: what}
	}
	return Event{Stale: what, Why: err.Error()}
}

// follow watches a resource until the context is done, tell fails, or the watch has expired.
func (c *Client) follow(ctx context.Context, res *Resource, tell func(Event) error) error {
	again, version := pauses, res.Version
	for {
		began := version
		err := c.watch(ctx, res, &version, tell)
		if version != began {
			again = pauses
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return errExpired
		}
		if err != nil && ctx.Err() == nil {
			if err := tell(stale(res.Name(), err)); err != nil {
				return err
			}
		}
		if !sleep(ctx, again.Step()) {
			return ctx.Err()
		}
	}
}

// watch passes on a resource's events after a resource version, which it updates, until the server ends the watch.
func (c *Client) watch(ctx context.Context, res *Resource, version *string, tell func(Event) error) error {
	of, err := c.of(res, res.Within)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, watchTime+lateness)
	defer cancel()
	w, err := of.Watch(ctx, metav1.ListOptions{
		AllowWatchBookmarks: true, ResourceVersion: *version, TimeoutSeconds: new(int64(watchTime.Seconds())),
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	if err := tell(stale(res.Name(), nil)); err != nil {
		return err
	}
	for e := range w.ResultChan() {
		m, ok := e.Object.(*metav1.PartialObjectMetadata)
		if !ok {
			return apierrors.FromObject(e.Object)
		}
		*version = m.ResourceVersion
		o := metadataOf(res.Name(), &m.ObjectMeta)
		switch e.Type {
		case watch.Bookmark:
			continue
		case watch.Deleted:
			err = tell(Event{Before: o})
		default:
			err = tell(Event{After: o})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// probe reports whether the cluster serves other resources than d, or a resource that could not be listed can be listed
// now.
func (c *Client) probe(ctx context.Context, d *Discovery) (changed bool, err error) {
	now, err := c.Discover(ctx)
	if err != nil {
		return false, err
	}
	return !d.same(now) || slices.ContainsFunc(d.Resources, func(r *Resource) bool {
		if !r.followed() || r.Unknown == "" {
			return false
		}
		return c.List(ctx, r, Selector{First: 1}, func(*explain.Object, []byte) {}) == nil
	}), nil
}

// same reports whether the resources are those of another discovery.
func (d *Discovery) same(now *Discovery) bool {
	return slices.EqualFunc(d.Resources, now.Resources, func(a, b *Resource) bool {
		return a.Name() == b.Name() && slices.Equal(a.Versions, b.Versions) && a.followed() == b.followed()
	})
}

// followed reports whether the page shows the resource: it shows those that the garbage collector watches.
func (r *Resource) followed() bool { return r.Listed && !r.Inert }

// pauses has the pauses after failures, and between watches.
var pauses = wait.Backoff{Duration: time.Second, Factor: 2, Cap: 30 * time.Second, Steps: 6}

// sleep waits for the pause, and returns false if the context ends before.
func sleep(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}
