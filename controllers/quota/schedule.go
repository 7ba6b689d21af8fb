package quota

import (
	"container/heap"
	"time"
)

// Delays between passes over one namespace.
const (
	// After a change. Changes often come many at a time.
	debounce = 20 * time.Millisecond
	// After a write to a quota, which as a rule charges it for an object that is about to be stored.
	settle = 250 * time.Millisecond
	// How long a pass is put off for such writes.
	maxWait = 2 * time.Second
	// After errors.
	minBackoff = 5 * time.Millisecond
	maxBackoff = 60 * time.Second
)

// schedule says which namespace is to be counted when. It is owned by one goroutine and told the
// time.
type schedule struct {
	// entries are the namespaces that have quotas.
	entries map[string]*entry
	// waiting are those that are to be counted and aren't being, the next one first.
	waiting queue
}

// entry is a namespace with quotas.
type entry struct {
	name   string
	quotas map[string]bool
	// since is when a pass was first asked for, zero if none is; due when it may begin, and index its
	// place in waiting, -1 if it isn't there.
	since, due time.Time
	index      int
	running    bool
	failures   int
	// quiet is when the last write to a quota has settled.
	quiet time.Time
}

func newSchedule() *schedule { return &schedule{entries: map[string]*entry{}} }

// observe takes an event in.
func (s *schedule) observe(ev Event, now time.Time) {
	e := s.entries[ev.Namespace]
	switch {
	case ev.Type == Exists:
		if e == nil {
			e = &entry{name: ev.Namespace, quotas: map[string]bool{}, index: -1}
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
		s.ask(e, now, later(now.Add(debounce), e.quiet))
	default: // Gone
		if delete(e.quotas, ev.Name); len(e.quotas) == 0 && !e.running {
			s.drop(e)
		}
	}
}

// ask wants a pass at due. A later wish puts it off, but not for ever; one for now doesn't wait.
func (s *schedule) ask(e *entry, now, due time.Time) {
	first := e.since.IsZero()
	if first {
		e.since = now
	}
	switch most := e.since.Add(maxWait); {
	case due.After(most):
		due = later(most, now)
	case !first && !due.After(now): // at once
	case !first && e.due.Before(now):
		due = e.due // it was asked for at once, or failed
	}
	e.due = due
	s.place(e)
}

// place puts an entry where it belongs in the queue.
func (s *schedule) place(e *entry) {
	switch {
	case e.running || e.since.IsZero():
		if e.index >= 0 {
			heap.Remove(&s.waiting, e.index)
		}
	case e.index >= 0:
		heap.Fix(&s.waiting, e.index)
	default:
		heap.Push(&s.waiting, e)
	}
}

func (s *schedule) drop(e *entry) {
	delete(s.entries, e.name)
	if e.index >= 0 {
		heap.Remove(&s.waiting, e.index)
	}
}

// next returns the namespace whose pass may begin, or else how long to wait; ok is false if no pass
// is waiting at all.
func (s *schedule) next(now time.Time) (name string, wait time.Duration, ok bool) {
	if len(s.waiting) == 0 {
		return "", 0, false
	}
	if e := s.waiting[0]; e.due.After(now) {
		return "", e.due.Sub(now), true
	}
	return s.waiting[0].name, 0, true
}

// begin says that a pass over the namespace that next returned is under way.
func (s *schedule) begin(name string) {
	e := s.entries[name]
	e.running, e.since = true, time.Time{}
	s.place(e)
}

// end says how the pass ended.
func (s *schedule) end(name string, err error, now time.Time) {
	e := s.entries[name]
	e.running = false
	if len(e.quotas) == 0 { // they went meanwhile
		s.drop(e)
		return
	}
	if err == nil {
		e.failures = 0
	} else {
		if e.since.IsZero() {
			e.since = now
		}
		e.due = now.Add(double(minBackoff, e.failures, maxBackoff))
		e.failures++
	}
	s.place(e)
}

// double returns d doubled n times, at most limit.
func double(d time.Duration, n int, limit time.Duration) time.Duration {
	for range n {
		if d >= limit {
			break
		}
		d *= 2
	}
	return min(d, limit)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// queue is a heap of entries by time, then name.
type queue []*entry

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if !q[i].due.Equal(q[j].due) {
		return q[i].due.Before(q[j].due)
	}
	return q[i].name < q[j].name
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	e.index = -1
	return e
}
