package protection

import (
	"cmp"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// backoff is the pause before a failed pass is retried (client-go util/workqueue: DefaultTypedControllerRateLimiter).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// mostKeys is the maximum number of objects in one pass.
const mostKeys = 64

// schedule decides when objects get a pass. It is a reconcile.Schedule. It holds only pending objects.
type schedule struct {
	entries map[Key]*entry
	// due are the entries that wait for a pass, with their times.
	due *reconcile.Queue[Key]
}

// state is the state of an entry.
type state uint8

const (
	// held: the object is in use, and waits for an event.
	held state = iota
	// waiting: it waits for its time.
	waiting
	// running: it has an active pass.
	running
)

// String returns the state's name.
func (s state) String() string { return [...]string{"held", "waiting", "running"}[s] }

type entry struct {
	key   Key
	state state
	// again says that there was an event during the pass, gone that the object is no longer pending.
	again, gone bool
	// failures counts the passes in a row that failed.
	failures int
	// err is the error of the last pass, if the entry waits for its retry.
	err error
}

func newSchedule() *schedule {
	return &schedule{entries: map[Key]*entry{}, due: reconcile.NewQueue(func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})}
}

// Observe implements reconcile.Schedule.
func (s *schedule) Observe(n news, now time.Time) {
	switch {
	case n.began:
		s.wakeAll(now)
	case n.released != nil:
		for _, key := range n.released {
			s.wake(key, now)
		}
	default:
		s.observe(n.key, n.pending, now)
	}
}

// observe processes an event about a protected object: pending says whether it needs a pass.
func (s *schedule) observe(key Key, pending bool, now time.Time) {
	e := s.entries[key]
	switch {
	case pending && e == nil:
		e = &entry{key: key}
		s.entries[key] = e
		s.wait(e, now)
	case pending:
		e.gone = false
		s.wake(key, now)
	case e == nil:
	case e.state == running:
		e.gone = true
	default:
		s.drop(e)
	}
}

// wake requests a pass over a pending object now. An event also ends a back-off, as in upstream's queue.
func (s *schedule) wake(key Key, now time.Time) {
	switch e := s.entries[key]; {
	case e == nil:
	case e.state == running:
		e.again = true
	case e.state == held:
		s.wait(e, now)
	default:
		if at, _ := s.due.At(key); now.Before(at) {
			e.err = nil
			s.due.Put(key, now)
		}
	}
}

// wakeAll requests a pass over every pending object, as events may have been missed.
func (s *schedule) wakeAll(now time.Time) {
	for key := range s.entries {
		s.wake(key, now)
	}
}

func (s *schedule) wait(e *entry, at time.Time) {
	e.state = waiting
	s.due.Put(e.key, at)
}

func (s *schedule) drop(e *entry) {
	s.due.Remove(e.key)
	delete(s.entries, e.key)
}

// Wait implements reconcile.Schedule.
func (s *schedule) Wait(now time.Time) (time.Duration, bool) { return s.due.Wait(now) }

// Waits implements reconcile.Schedule.
func (s *schedule) Waits(most int) (due []reconcile.Due[[]Key], more int) {
	for _, key := range s.due.Earliest(most) {
		at, _ := s.due.At(key)
		d := reconcile.Due[[]Key]{Job: []Key{key}, At: at, Why: reconcile.AfterChange, Err: s.entries[key].err}
		if d.Err != nil {
			d.Why = reconcile.AfterFailure
		}
		due = append(due, d)
	}
	return due, s.due.Len() - len(due)
}

// Begin implements reconcile.Schedule: a pass is over due objects of one namespace.
func (s *schedule) Begin(now time.Time) (keys []Key, ok bool) {
	for len(keys) < mostKeys {
		key, ok := s.due.Due(now)
		if !ok || len(keys) > 0 && key.Namespace != keys[0].Namespace {
			break
		}
		s.due.Remove(key)
		e := s.entries[key]
		e.state, e.again = running, false
		keys = append(keys, key)
	}
	return keys, len(keys) > 0
}

// End implements reconcile.Schedule. The outcomes are in the order of the keys.
func (s *schedule) End(keys []Key, outcomes []outcome, now time.Time) {
	for i, key := range keys {
		s.end(key, outcomes[i], now)
	}
}

// end records the outcome of the pass over an object.
func (s *schedule) end(key Key, o outcome, now time.Time) {
	e := s.entries[key]
	e.err = nil
	switch {
	case e.gone:
		s.drop(e)
	case o.err != nil:
		e.failures++
		at := now.Add(backoff.After(e.failures))
		if e.again {
			at = now
		} else {
			e.err = o.err
		}
		s.wait(e, at)
	case e.again:
		e.failures = 0
		s.wait(e, now)
	case o.verdict == Keep:
		e.failures, e.state = 0, held
	default:
		s.drop(e)
	}
}
