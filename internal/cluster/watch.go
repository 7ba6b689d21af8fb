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

// watchTime is how long a watch lasts at most. The server may end it before. lateness is how much later than that a server
// that does not answer is given up.
const (
	watchTime = 5 * time.Minute
	lateness  = 30 * time.Second
)

// rediscover is how often what the cluster serves is read again while it is watched.
const rediscover = time.Minute

// Watch implements Source: a watch of each resource, and discovery again and again. Resources that fail are watched again
// after a pause.
func (c *Client) Watch(ctx context.Context, d *Discovery, yield func(Event) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex // one call of yield at a time
	tell := func(e Event) error {
		mu.Lock()
		defer mu.Unlock()
		return yield(e)
	}
	for _, res := range d.Resources {
		if res.followed() && (res.Unknown == "" || res.Within != "") {
			g.Go(func() error { return c.follow(ctx, res, tell) })
		}
	}
	g.Go(func() error {
		for sleep(ctx, rediscover) {
			changed, err := c.probe(ctx, d)
			why := ""
			switch {
			case changed:
				return errExpired
			case err != nil:
				why = err.Error()
			}
			if err := tell(Event{Stale: "discovery", Why: why}); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return g.Wait()
}

// follow watches a resource until the context is done, tell fails, or the watch has expired.
func (c *Client) follow(ctx context.Context, res *Resource, tell func(Event) error) error {
	again, version, why := pauses, res.Version, ""
	report := func(now string) error {
		if now == why {
			return nil
		}
		why = now
		return tell(Event{Stale: res.Name(), Why: now})
	}
	for {
		err := c.watch(ctx, res, version, func(m *metav1.PartialObjectMetadata, kind watch.EventType) error {
			if m == nil {
				return report("")
			}
			version, again = m.ResourceVersion, pauses
			if kind == watch.Bookmark {
				return nil
			}
			return tell(Event{Object: metadataOf(res, &m.ObjectMeta), Deleted: kind == watch.Deleted})
		})
		switch {
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			return errExpired
		case err != nil && ctx.Err() == nil:
			if err := report(err.Error()); err != nil {
				return err
			}
		}
		if !sleep(ctx, again.Step()) {
			return ctx.Err()
		}
	}
}

// watch calls yield when the server has begun to answer, and then with the metadata of a resource's events after a
// resource version, until the server ends the watch.
func (c *Client) watch(
	ctx context.Context, res *Resource, version string, yield func(*metav1.PartialObjectMetadata, watch.EventType) error,
) error {
	of, err := c.of(res, res.Within)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, watchTime+lateness)
	defer cancel()
	w, err := of.Watch(ctx, metav1.ListOptions{
		AllowWatchBookmarks: true, ResourceVersion: version, TimeoutSeconds: new(int64(watchTime.Seconds())),
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	if err := yield(nil, ""); err != nil {
		return err
	}
	for e := range w.ResultChan() {
		m, ok := e.Object.(*metav1.PartialObjectMetadata)
		if !ok {
			return apierrors.FromObject(e.Object)
		}
		if err := yield(m, e.Type); err != nil {
			return err
		}
	}
	return nil
}

// probe reports whether what the cluster serves is not what d says any more: other resources, or one that could not be
// listed and can be now.
func (c *Client) probe(ctx context.Context, d *Discovery) (changed bool, err error) {
	now, err := c.Discover(ctx)
	if err != nil {
		return false, err
	}
	same := slices.EqualFunc(d.Resources, now.Resources, func(a, b *Resource) bool {
		return a.Name() == b.Name() && slices.Equal(a.Versions, b.Versions) && a.followed() == b.followed()
	})
	for _, res := range d.Resources {
		if same && res.followed() && res.Unknown != "" && res.Denied == nil {
			_, err := c.Names(ctx, res, "", 1)
			same = err != nil
		}
	}
	return !same, nil
}

// followed reports whether the page shows the resource. ComponentStatuses have no watch, and the garbage collector leaves
// them out, too (garbagecollector.go: GetDeletableResources).
func (r *Resource) followed() bool { return r.Listed && r.Watched && !r.Inert }

// pauses are those after failures, and between watches.
var pauses = wait.Backoff{Duration: time.Second, Factor: 2, Cap: 30 * time.Second, Steps: 6}

// sleep reports whether the pause is over before the context.
func sleep(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Past implements Source: lists tell nothing of it.
func (c *Client) Past(func(before, after *explain.Object, revision int64, at time.Time)) {}

// Waiting implements Source.
func (c *Client) Waiting() *int { return nil }
