package check

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// watchers checks what each watcher received.
func watchers(h *History, t *timeline, _ *frontier) []Violation {
	var out []Violation
	for _, w := range h.Watchers {
		out = append(out, follow(h, t, w)...)
	}
	return out
}

// follow walks along a watcher's steps and etcd's events together.
func follow(h *History, t *timeline, w *Watcher) []Violation {
	var mine []int // the events of the watched collection, by place
	for i := range t.events {
		if strings.HasPrefix(t.events[i].Key, w.Prefix) {
			mine = append(mine, i)
		}
	}
	var out []Violation
	// at is the revision that the watcher is complete up to, and next the first of mine after it.
	at, next := int64(0), 0
	for i, s := range w.Steps {
		report := func(rule Rule, format string, args ...any) {
			shown := []string{}
			for _, p := range w.Steps[max(0, i-3) : i+1] {
				shown = append(shown, w.Name+" "+p.String())
			}
			if s.Version.Key != "" {
				shown = append(shown, t.around(s.Version.Key, s.Version.Revision)...)
			}
			out = append(out, Violation{rule, w.Name + ": " + fmt.Sprintf(format, args...), shown})
		}
		rev := s.Version.Revision
		switch s.Kind {
		case Listed:
			at = rev
		case Expired:
			if why := unexplained(h, s); why != "" {
				report(UnexplainedGone, "%s", why)
			}
		case Bookmark:
			if next < len(mine) && t.events[mine[next]].Revision <= rev {
				report(WatchGap, "%s at %d is missing before the bookmark %d", t.events[mine[next]].Key, t.events[mine[next]].Revision, rev)
			}
			at = max(at, rev)
		default:
			if rev <= at {
				report(WatchRepeat, "%s %s after %d", s.Kind, s.Version, at)
				continue
			}
			if next < len(mine) && t.events[mine[next]].Revision < rev {
				report(WatchGap, "%s at %d is missing before %d", t.events[mine[next]].Key, t.events[mine[next]].Revision, rev)
			}
			if why := t.unlike(s); why != "" {
				report(WatchWrong, "%s", why)
			}
			at = rev
		}
		for next < len(mine) && t.events[mine[next]].Revision <= at {
			next++
		}
	}
	if next < len(mine) && (w.Until == 0 || t.events[mine[next]].Revision <= w.Until) {
		e := t.events[mine[next]]
		out = append(out, Violation{WatchGap, fmt.Sprintf("%s: %s at %d never came", w.Name, e.Key, e.Revision), t.around(e.Key, e.Revision)})
	}
	return out
}

// unlike says how an event differs from etcd's; "" if it doesn't.
func (t *timeline) unlike(s Step) string {
	v := s.Version
	e := t.event(v.Revision)
	if e == nil || e.Key != v.Key {
		return fmt.Sprintf("%s %s has no event in etcd", s.Kind, v)
	}
	old, kind := t.at(v.Key, v.Revision-1), Modified
	switch {
	case e.Object == nil:
		kind = Deleted
	case old.object == nil:
		kind = Added
	}
	o := e.Object
	if o == nil {
		o = old.object
	}
	if s.Kind != kind || o != nil && (o.UID != v.UID || o.Token != v.Token) {
		return fmt.Sprintf("%s %s uid=%s token=%s is %s in etcd", s.Kind, v, v.UID, v.Token, kind)
	}
	return ""
}

// unexplained says why a server had no reason to have forgotten what a watcher asked for: it was running then, and etcd
// had it.
func unexplained(h *History, s Step) string {
	ready, known := h.Ready[s.Server]
	if from := s.Version.Revision; known && from >= ready && from >= compacted(h, s.At) {
		return fmt.Sprintf("%s, ready since revision %d, has no history after %d", s.Server, ready, from)
	}
	return ""
}

// compacted is the greatest revision that etcd was asked to forget before until.
func compacted(h *History, until time.Duration) int64 {
	var most int64
	for _, c := range slices.Backward(h.Compactions) {
		if c.Begin < until {
			most = max(most, c.Revision)
		}
	}
	return most
}
