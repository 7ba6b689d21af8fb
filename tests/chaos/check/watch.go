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

// walk compares a watcher's steps with etcd's events.
type walk struct {
	h *History
	t *timeline
	w *Watcher
	// mine has the events of the watched collection. The watcher has received all of them up to the revision at; next
	// is the index of the first later one.
	mine []*Event
	next int
	at   int64
	out  []Violation
}

func follow(h *History, t *timeline, watcher *Watcher) []Violation {
	w := &walk{h: h, t: t, w: watcher}
	for i := range t.events {
		if strings.HasPrefix(t.events[i].Key, watcher.Prefix) {
			w.mine = append(w.mine, &t.events[i])
		}
	}
	for i, s := range watcher.Steps {
		if rule, what := w.step(s); rule != "" {
			w.report(rule, what, i)
		}
		for w.missed(w.at+1) != nil {
			w.next++
		}
	}
	if w.next < len(w.mine) && (watcher.Until == 0 || w.mine[w.next].Revision <= watcher.Until) {
		e := w.mine[w.next]
		what := fmt.Sprintf("%s: %s at %d never came", watcher.Name, e.Key, e.Revision)
		w.out = append(w.out, Violation{WatchGap, what, t.around(e.Key, e.Revision)})
	}
	return w.out
}

// step returns the rule that a step violates, or an empty one.
func (w *walk) step(s Step) (Rule, string) {
	rev := s.Version.Revision
	switch s.Kind {
	case Listed:
		w.at = rev
		return "", ""
	case Expired:
		if why := unexplained(w.h, s); why != "" {
			return UnexplainedGone, why
		}
		return "", ""
	case Bookmark:
		e := w.missed(rev + 1)
		if w.at = max(w.at, rev); e != nil {
			return WatchGap, fmt.Sprintf("%s at %d is missing before the bookmark %d", e.Key, e.Revision, rev)
		}
		return "", ""
	}
	if rev <= w.at {
		return WatchRepeat, fmt.Sprintf("%s %s after %d", s.Kind, s.Version, w.at)
	}
	w.at = rev
	if e := w.missed(rev); e != nil {
		return WatchGap, fmt.Sprintf("%s at %d is missing before %d", e.Key, e.Revision, rev)
	}
	if why := w.t.unlike(s); why != "" {
		return WatchWrong, why
	}
	return "", ""
}

// missed returns the first event before a revision that the watcher has not received, or nil.
func (w *walk) missed(before int64) *Event {
	if w.next < len(w.mine) && w.mine[w.next].Revision < before {
		return w.mine[w.next]
	}
	return nil
}

// report adds a violation, with the step at index i and the steps before it.
func (w *walk) report(rule Rule, what string, i int) {
	var shown []string
	for _, s := range w.w.Steps[max(0, i-3) : i+1] {
		shown = append(shown, w.w.Name+" "+s.String())
	}
	if v := w.w.Steps[i].Version; v.Key != "" {
		shown = append(shown, w.t.around(v.Key, v.Revision)...)
	}
	w.out = append(w.out, Violation{rule, w.w.Name + ": " + what, shown})
}

// unlike describes the difference between an event and etcd's event, or returns an empty string.
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

// unexplained returns an error if a server had no reason for a 410: the server was running at the revision, and etcd
// still had it.
func unexplained(h *History, s Step) string {
	ready, known := h.Ready[s.Server]
	if from := s.Version.Revision; known && from >= ready && from >= compacted(h, s.At) {
		return fmt.Sprintf("%s, ready since revision %d, has no history after %d", s.Server, ready, from)
	}
	return ""
}

// compacted returns the greatest revision of a compaction that was requested before until.
func compacted(h *History, until time.Duration) int64 {
	var most int64
	for _, c := range slices.Backward(h.Compactions) {
		if c.Begin < until {
			most = max(most, c.Revision)
		}
	}
	return most
}
