package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// watchTime is how long a watch lasts at most. The server may end it before.
const watchTime = 5 * time.Minute

// rediscover is how often what the cluster serves is read again while it is watched.
const rediscover = time.Minute

// Watch implements Source: a watch of each resource, and discovery again and again. Resources that fail are watched again
// after a pause.
func (c *Client) Watch(ctx context.Context, d *Discovery, yield func(Event) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var turn sync.Mutex // one call of yield at a time
	tell := func(e Event) error {
		turn.Lock()
		defer turn.Unlock()
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
	again, version, stale := pauses, res.Version, false
	for {
		err := c.watch(ctx, res, res.Within, version, func(kind string, m *metav1.ObjectMeta) error {
			switch {
			case kind == opened && !stale:
				return nil
			case kind == opened:
				stale = false
				return tell(Event{Stale: res.Name()})
			}
			version, again = m.ResourceVersion, pauses
			if kind == "BOOKMARK" {
				return nil
			}
			return tell(Event{Object: metadataOf(res, m), Deleted: kind == "DELETED"})
		})
		switch {
		case errors.Is(err, errExpired):
			return err
		case err != nil && ctx.Err() == nil:
			stale = true
			if err := tell(Event{Stale: res.Name(), Why: err.Error()}); err != nil {
				return err
			}
		}
		if !sleep(ctx, again.Step()) {
			return ctx.Err()
		}
	}
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

// opened is the kind of a first event without an object: the server has begun to answer.
const opened = ""

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

// metadataEvents asks for the events of a watch with metadata only. A server that does not know the form sends whole
// objects, which have the metadata in the same place.
const metadataEvents = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// watch calls yield with the events of a resource's objects, of one namespace or of all, after a resource version. It
// returns nil when the server ends the watch, and errExpired if a list must be read first. Bookmarks are events, too.
func (c *Client) watch(
	ctx context.Context, res *Resource, namespace, version string, yield func(kind string, m *metav1.ObjectMeta) error,
) error {
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(watchTime.Seconds()))},
	}
	ctx, cancel := context.WithTimeout(ctx, watchTime+30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+res.Path(namespace)+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", metadataEvents)
	answer, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if answer.StatusCode == http.StatusGone {
			return errExpired
		}
		return asError(req, answer, body)
	}
	if err := yield(opened, nil); err != nil {
		return err
	}
	return events(json.NewDecoder(answer.Body), yield)
}

// events reads the events of a watch.
func events(d *json.Decoder, yield func(kind string, m *metav1.ObjectMeta) error) error {
	for {
		var e struct {
			Type   string
			Object struct {
				Metadata metav1.ObjectMeta
				Message  string
				Code     int
			}
		}
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("watch: %w", err)
		case e.Type == "ERROR" && e.Object.Code == http.StatusGone:
			return errExpired
		case e.Type == "ERROR":
			return fmt.Errorf("watch: %s", e.Object.Message)
		}
		if err := yield(e.Type, &e.Object.Metadata); err != nil {
			return err
		}
	}
}

// Past implements Source: lists tell nothing of it.
func (c *Client) Past(func(before, after *explain.Object, revision int64, at time.Time)) {}

// Waiting implements Source.
func (c *Client) Waiting() *int { return nil }
