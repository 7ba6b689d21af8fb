package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// watcher lists a collection and watches it until ctx ends. When a watch ends, it resumes from its last revision,
// mostly on the same server.
type watcher struct {
	w *world
	r *rand.Rand
	// seen is guarded by the world's lock.
	seen *check.Watcher
	// at is the revision up to which the watcher has received all events; 0 if it must list.
	at int64
}

// watch adds a watcher to the history.
func (w *world) watch(r *rand.Rand, name, prefix string) *watcher {
	c := &watcher{w: w, r: r, seen: &check.Watcher{Name: name, Prefix: prefix}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.h.Watchers = append(w.h.Watchers, c.seen)
	return c
}

// step records an event that the watcher has received.
func (c *watcher) step(id string, kind check.StepKind, v check.Version) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.seen.Steps = append(c.seen.Steps, check.Step{At: c.w.now(), Server: id, Kind: kind, Version: v})
}

func (c *watcher) run(ctx context.Context) {
	s := c.w.servers[c.r.IntN(len(c.w.servers))]
	for ctx.Err() == nil {
		if c.r.IntN(4) == 0 {
			s = c.w.servers[c.r.IntN(len(c.w.servers))]
		}
		switch c.r.IntN(20) {
		case 0, 1, 2, 3: // the events that it misses may be compacted
			pause(ctx, time.Duration(c.r.Int64N(int64(6*time.Second))))
		case 4: // like a client that has been restarted
			c.at = 0
		}
		id, base, ok := s.current()
		switch {
		case !ok:
			s = c.w.servers[c.r.IntN(len(c.w.servers))]
			pause(ctx, 20*time.Millisecond)
		case c.at == 0 && c.r.IntN(2) == 0:
			if !c.once(ctx, id, base) {
				pause(ctx, 50*time.Millisecond)
			}
		case c.at == 0:
			if l := c.w.list(ctx, id, base, c.seen.Prefix, check.Default, url.Values{}); l != nil && !l.Gone {
				c.step(id, check.Listed, check.Version{Revision: l.Revision})
				c.at = l.Revision
			} else {
				pause(ctx, 50*time.Millisecond)
			}
		case !c.once(ctx, id, base):
			s = c.w.servers[c.r.IntN(len(c.w.servers))]
			pause(ctx, 50*time.Millisecond)
		}
	}
}

// once watches until the watch ends. It returns false if the watch did not begin or was interrupted. Without a revision
// to resume from, it requests the initial events.
func (c *watcher) once(ctx context.Context, id, base string) bool {
	seconds := 3 + c.r.IntN(8)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds+2)*time.Second)
	defer cancel()
	q := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {fmt.Sprint(seconds)}}
	var initial *check.Read // nil when the initial state is complete
	if c.at > 0 {
		q.Set("resourceVersion", fmt.Sprint(c.at))
	} else {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
		initial = &check.Read{Server: id, Prefix: c.seen.Prefix, Span: check.Span{Begin: c.w.now()}}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at(base, c.seen.Prefix)+"?"+q.Encode(), nil)
	if err != nil {
		c.w.t.Error(err)
		return false
	}
	a, err := c.w.http.Do(r)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	c.w.answered("watch", a.StatusCode)
	if a.StatusCode != http.StatusOK {
		return false
	}
	events := json.NewDecoder(a.Body)
	for {
		var e struct {
			Type   string `json:"type"`
			Object object `json:"object"`
		}
		if err := events.Decode(&e); err != nil {
			return ctx.Err() == nil // usually the watch has ended
		}
		if e.Type == "ERROR" {
			c.w.answered("watch", e.Object.Code)
			if e.Object.Code == http.StatusGone {
				c.step(id, check.Expired, check.Version{Revision: c.at})
				c.at = 0
			}
			return false
		}
		kind, is := kinds[e.Type]
		if !is {
			c.w.t.Errorf("a watch of %s sends %q", c.seen.Prefix, e.Type)
			return false
		}
		v := e.Object.version(strings.Split(c.seen.Prefix, "/")[0])
		if kind == check.Bookmark {
			v.Key = ""
		}
		if initial != nil {
			end := e.Object.Metadata.Annotations["k8s.io/initial-events-end"] == "true"
			if initial = c.initial(initial, kind, v, end); initial == nil {
				c.at = v.Revision
			}
			continue
		}
		c.step(id, kind, v)
		c.at = max(c.at, v.Revision)
	}
}

// initial processes one of the initial events of a watch. end marks the end of the initial state: then it returns nil.
func (c *watcher) initial(state *check.Read, kind check.StepKind, v check.Version, end bool) *check.Read {
	switch {
	case kind == check.Added:
		state.Versions = append(state.Versions, v)
		return state
	case kind != check.Bookmark || !end:
		c.w.t.Errorf("%s: %s %s is among the initial events", c.seen.Name, kind, v)
		return state
	}
	state.Revision, state.End = v.Revision, c.w.now()
	c.w.mu.Lock()
	c.w.h.Reads = append(c.w.h.Reads, state)
	c.w.mu.Unlock()
	c.step(state.Server, check.Listed, v)
	return nil
}

var kinds = map[string]check.StepKind{
	"ADDED": check.Added, "MODIFIED": check.Modified, "DELETED": check.Deleted, "BOOKMARK": check.Bookmark,
}

// reached reports whether the watcher has received everything up to a revision.
func (c *watcher) reached(revision int64) bool {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	n := len(c.seen.Steps)
	return n > 0 && c.seen.Steps[n-1].Kind != check.Expired && c.seen.Steps[n-1].Version.Revision >= revision
}
