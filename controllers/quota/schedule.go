package quota

import (
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Delays between passes over one namespace.
const (
	// After a change. Changes often come many at a time.
	debounce = 20 * time.Millisecond
	// After a write to a quota, by which admission usually adds the usage of an object that is about to be stored.
	settle = 250 * time.Millisecond
	// How long such writes may delay a pass.
	maxWait = 2 * time.Second
)

// backoff is the pause after errors.
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 60 * time.Second}

// schedule decides when a namespace is counted. It is a reconcile.Schedule.
type schedule struct {
	// entries are the namespaces that have quotas.
	entries map[string]*entry
	// waiting are those that wait for a pass and have no active one.
	waiting *reconcile.Queue[string]
}

// entry is a namespace with quotas.
type entry struct {
	name   string
	quotas map[string]bool
	// since is when a pass was first requested, zero if none is; due is when it may begin.
	since, due time.Time
	running    bool
	failures   int
	// err is the error of the last pass.
	err error
	// quiet is when the last write to a quota has settled.
	quiet time.Time
}

func newSchedule() *schedule {
	return &schedule{entries: map[string]*entry{}, waiting: reconcile.NewQueue(strings.Compare)}
}

// Observe implements reconcile.Schedule.
func (s *schedule) Observe(ev Event, now time.Time) {
	e := s.entries[ev.Namespace]
	switch {
	case ev.Type == Exists:
		if e == nil {
			e = &entry{name: ev.Namespace, quotas: map[string]bool{}}
			s.entries[ev.Namespace] = e
		}
		e.quotas[ev.Name] = true
		if ev.Unknown {
			s.ask(e, now, now)
			return
		}
		e.quiet = now.Add(settle)
		s.ask(e, now, e.quiet)
	case e == nil:
	case ev.Type == Content:
		s.ask(e, now, reconcile.Later(now.Add(debounce), e.quiet))
	default: // Gone
		if delete(e.quotas, ev.Name); len(e.quotas) == 0 && !e.running {
			s.drop(e)
		}
	}
}

// ask requests a pass at due. A later request delays it, but not forever; one for now doesn't wait.
func (s *schedule) ask(e *entry, now, due time.Time) {
	first := e.since.IsZero()
	if first {
		e.since = now
	}
	switch most := e.since.Add(maxWait); {
	case due.After(most):
		due = reconcile.Later(most, now)
	case !first && !due.After(now): // at once
	case !first && e.due.Before(now):
		due = e.due // it was requested for now, or failed
	}
	e.due = due
	s.place(e)
}

// place puts an entry into the queue, or removes it.
func (s *schedule) place(e *entry) {
	if e.running || e.since.IsZero() {
		s.waiting.Remove(e.name)
	} else {
		s.waiting.Put(e.name, e.due)
	}
}

func (s *schedule) drop(e *entry) {
	delete(s.entries, e.name)
	s.waiting.Remove(e.name)
}

// Wait implements reconcile.Schedule.
func (s *schedule) Wait(now time.Time) (time.Duration, bool) { return s.waiting.Wait(now) }

// Waits implements reconcile.Schedule.
func (s *schedule) Waits(most int) (due []reconcile.Due[string], more int) {
	for _, name := range s.waiting.Earliest(most) {
		at, _ := s.waiting.At(name)
		d := reconcile.Due[string]{Job: name, At: at, Why: reconcile.AfterChange, Err: s.entries[name].err}
		if d.Err != nil {
			d.Why = reconcile.AfterFailure
		}
		due = append(due, d)
	}
	return due, s.waiting.Len() - len(due)
}

// Begin implements reconcile.Schedule.
func (s *schedule) Begin(now time.Time) (name string, ok bool) {
	if name, ok = s.waiting.Due(now); ok {
		e := s.entries[name]
		e.running, e.since = true, time.Time{}
		s.place(e)
	}
	return name, ok
}

// End implements reconcile.Schedule.
func (s *schedule) End(name string, err error, now time.Time) {
	e := s.entries[name]
	e.running, e.err = false, err
	if len(e.quotas) == 0 { // they were deleted meanwhile
		s.drop(e)
		return
	}
	if err == nil {
		e.failures = 0
	} else {
		if e.since.IsZero() {
			e.since = now
		}
		e.failures++
		e.due = now.Add(backoff.After(e.failures))
	}
	s.place(e)
}
