package namespace

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// backoff is the pause after errors (E-07).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 60 * time.Second}

// warnEvery is the shortest time between two warnings about a namespace.
const warnEvery = time.Minute

// distance is the pause after a change. Others may keep changing a namespace that can't be emptied, so the pause grows
// while the number of objects doesn't decrease.
var distance = reconcile.Backoff{Min: 10 * time.Millisecond, Max: time.Second}

// schedule decides when a namespace gets a pass. It is a reconcile.Schedule.
type schedule struct {
	entries map[string]*entry
	// waiting are those without an active pass.
	waiting *reconcile.Queue[string]
	// known is how many entries there are, for other goroutines to read.
	known atomic.Int64
	// warn reports a pass that has failed.
	warn func(name string, o outcome)
}

// entry is a namespace that is being deleted.
type entry struct {
	name    string
	running bool
	// gone is set if the namespace was removed during the pass.
	gone bool
	// changed is the revision of the last change of the namespace during the pass, and removed are those of removals in
	// it. seen is the revision as which the last pass has left the namespace.
	changed, seen int64
	removed       []int64
	// failures and idle count the passes in a row that failed, and that left as many objects as before.
	failures, idle int
	// counted is the number of objects that the last pass has left, at revision at or a later one; left is how many of
	// them have not been removed since.
	counted, left int
	at            int64
	ended, warned time.Time
	// why and err are those of the wait; see reconcile.Due.
	why string
	err error
}

func newSchedule() *schedule {
	return &schedule{
		warn: func(string, outcome) {}, entries: map[string]*entry{}, waiting: reconcile.NewQueue(strings.Compare),
	}
}

// Observe implements reconcile.Schedule.
func (s *schedule) Observe(ev Event, now time.Time) {
	e := s.entries[ev.Namespace]
	switch {
	case ev.Type == Exists && ev.Deleting && e == nil:
		s.entries[ev.Namespace] = &entry{name: ev.Namespace, counted: -1, why: reconcile.AfterChange}
		s.waiting.Put(ev.Namespace, now)
		s.known.Add(1)
	case e == nil:
	case ev.Type == Exists && ev.Deleting:
		if e.gone, e.changed = false, ev.Revision; !e.running && ev.Revision > e.seen {
			s.wake(e, now)
		}
	case ev.Type == Removed && e.running:
		e.removed = append(e.removed, ev.Revision)
	case ev.Type == Removed:
		// It is not woken for each removal: a pass reads and deletes all objects. After a failure it may not be known
		// how many there are.
		if e.remove(ev.Revision); e.counted > 0 && e.left <= 0 {
			s.wake(e, now)
		}
	case !e.running: // Gone, or a new namespace with the name that isn't being deleted
		s.drop(e)
	default:
		e.gone = true
	}
}

func (s *schedule) drop(e *entry) {
	s.waiting.Remove(e.name)
	delete(s.entries, e.name)
	s.known.Add(-1)
}

// remove counts the removal of an object, unless the last pass has not counted the object.
func (e *entry) remove(revision int64) {
	if revision > e.at {
		e.left--
	}
}

// wake moves the next pass to an earlier time.
func (s *schedule) wake(e *entry, now time.Time) {
	due := reconcile.Later(now, e.ended.Add(e.distance()))
	if at, _ := s.waiting.At(e.name); due.Before(at) {
		e.why, e.err = reconcile.AfterChange, nil
		s.waiting.Put(e.name, due)
	}
}

// Wait implements reconcile.Schedule.
func (s *schedule) Wait(now time.Time) (time.Duration, bool) { return s.waiting.Wait(now) }

// Waits implements reconcile.Schedule.
func (s *schedule) Waits(most int) (due []reconcile.Due[string], more int) {
	for _, name := range s.waiting.Earliest(most) {
		at, _ := s.waiting.At(name)
		due = append(due, reconcile.Due[string]{Job: name, At: at, Why: s.entries[name].why, Err: s.entries[name].err})
	}
	return due, s.waiting.Len() - len(due)
}

// Begin implements reconcile.Schedule.
func (s *schedule) Begin(now time.Time) (name string, ok bool) {
	if name, ok = s.waiting.Due(now); ok {
		s.waiting.Remove(name)
		e := s.entries[name]
		e.running, e.changed, e.removed = true, 0, nil
	}
	return name, ok
}

// End implements reconcile.Schedule.
func (s *schedule) End(name string, o outcome, now time.Time) {
	e := s.entries[name]
	e.running, e.seen = false, o.revision
	again := e.changed > e.seen
	if e.gone || o.done && !again {
		s.drop(e)
		return
	}
	e.ended = now
	e.idle++
	if o.left != e.counted {
		e.idle = 0
	}
	e.counted, e.left, e.at = o.left, o.left, o.counted
	for _, revision := range e.removed {
		e.remove(revision)
	}
	after := o.after
	e.why, e.err = "the estimated end of the deletion of its content", o.err
	switch {
	case o.err != nil:
		e.why = reconcile.AfterFailure
		e.failures++
		after = max(after, backoff.After(e.failures))
		if now.Sub(e.warned) >= warnEvery {
			e.warned = now
			s.warn(name, o)
		}
	case o.done: // and the namespace has changed
		e.why = reconcile.AfterChange
		e.failures, after = 0, e.distance()
	default:
		e.failures = 0
	}
	s.waiting.Put(name, now.Add(after))
	if again || e.counted > 0 && e.left <= 0 {
		s.wake(e, now)
	}
}

// distance is the time after the end of a pass before which a change causes no other.
func (e *entry) distance() time.Duration { return distance.After(e.idle + 1) }
