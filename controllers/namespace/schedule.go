package namespace

import (
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// backoff is the pause after errors (E-07).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 60 * time.Second}

// warnEvery is the shortest time between two warnings about a namespace.
const warnEvery = time.Minute

// distance is the pause after a change. It grows while the number of objects doesn't decrease, as other clients may
// keep changing a namespace that can't be emptied.
var distance = reconcile.Backoff{Min: 10 * time.Millisecond, Max: time.Second}

// schedule decides which events cause a pass, and when the next one follows a pass.
type schedule struct {
	// mu guards entries, and what they refer to.
	mu      sync.Mutex
	entries map[string]*entry
	warn    func(name string, o outcome)
}

// entry is a namespace that is being deleted.
type entry struct {
	running bool
	// gone is set if the namespace was removed during the pass.
	gone bool
	// changed is the revision of the last change of the namespace during the pass, and removed has the revisions of
	// removals in it. seen is the revision of the namespace after the last pass.
	changed, seen int64
	removed       []int64
	// failures counts the passes in a row that failed, and idle those that left as many objects as before.
	failures, idle int
	// counted is the number of objects that the last pass has left, at revision at or a later one. left is the number
	// of those that have not been removed since.
	counted, left int
	at            int64
	warned        time.Time
}

func newSchedule() *schedule {
	return &schedule{warn: func(string, outcome) {}, entries: map[string]*entry{}}
}

// observe reports whether an event causes a pass over its namespace.
func (s *schedule) observe(ev Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[ev.Namespace]
	switch {
	case ev.Type == Exists && ev.Deleting && e == nil:
		s.entries[ev.Namespace] = &entry{counted: -1}
		return true
	case e == nil:
		return false
	case ev.Type == Exists && ev.Deleting:
		e.gone, e.changed = false, ev.Revision
		return !e.running && ev.Revision > e.seen
	case ev.Type == Removed && e.running:
		e.removed = append(e.removed, ev.Revision)
		return false
	case ev.Type == Removed:
		// A removal alone causes no pass, as a pass reads and deletes all objects. After a failure the number of
		// objects may not be known.
		e.remove(ev.Revision)
		return e.counted > 0 && e.left <= 0
	case e.running: // Gone, or a new namespace with the name that isn't being deleted
		e.gone = true
		return false
	}
	delete(s.entries, ev.Namespace)
	return true // a pass that does nothing, in place of the one that waits
}

// remove counts the removal of an object that the last pass has counted.
func (e *entry) remove(revision int64) {
	if revision > e.at {
		e.left--
	}
}

// begin records that a pass begins; it returns false if there is nothing to do.
func (s *schedule) begin(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	if e == nil {
		return false
	}
	e.running, e.changed, e.removed = true, 0, nil
	return true
}

// end records how a pass has ended, and returns when the next one follows.
func (s *schedule) end(name string, o outcome, now time.Time) reconcile.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	e.running, e.seen = false, o.revision
	again := e.changed > e.seen
	if e.gone || o.done && !again {
		delete(s.entries, name)
		return reconcile.Outcome{}
	}
	e.idle++
	if o.left != e.counted {
		e.idle = 0
	}
	e.counted, e.left, e.at = o.left, o.left, o.counted
	for _, revision := range e.removed {
		e.remove(revision)
	}
	out := reconcile.Outcome{Err: o.err, Rest: distance.After(e.idle + 1), Again: o.after,
		Why: "the estimated end of the deletion of its content"}
	if e.failures++; o.err == nil {
		e.failures = 0
	} else {
		out.Rest = min(out.Rest, backoff.After(e.failures))
		if now.Sub(e.warned) >= warnEvery {
			e.warned = now
			s.warn(name, o)
		}
	}
	if o.done || again || e.counted > 0 && e.left <= 0 {
		out.Soon = true
	}
	return out
}
