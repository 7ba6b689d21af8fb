package protection

import (
	"cmp"
	"container/heap"
	"time"
)

// Delays before a pass is tried again after an error
// (client-go util/workqueue: DefaultTypedControllerRateLimiter).
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 1000 * time.Second
)

// mostKeys bounds what one pass is over.
const mostKeys = 64

// schedule says which objects are to be looked at when. It is owned by one goroutine and told the
// time. It knows the objects that are pending, and no others.
type schedule struct {
	entries map[Key]*entry
	// due are the entries that wait for a pass at a time of their own, the next one first.
	due queue
}

// state is where an entry stands.
type state uint8

const (
	// held: in use; an event will tell.
	held state = iota
	// waiting for its time.
	waiting
	// running: a pass over it is under way.
	running
)

// String returns the state's name.
func (s state) String() string { return [...]string{"held", "waiting", "running"}[s] }

type entry struct {
	key   Key
	state state
	// at is when the pass may begin, index the place in due; both only if waiting.
	at    time.Time
	index int
	// again says that something happened during the pass, gone that nothing is pending any more.
	again, gone bool
	// failures counts the passes in a row that failed.
	failures int
}

func newSchedule() *schedule { return &schedule{entries: map[Key]*entry{}} }

// observe takes in what an event says about a protected object: whether something is pending.
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

// wake has an object looked at now, if it is pending. Upstream's queue too lets an event overtake a
// back-off.
func (s *schedule) wake(key Key, now time.Time) {
	switch e := s.entries[key]; {
	case e == nil:
	case e.state == running:
		e.again = true
	case e.state == held:
		s.wait(e, now)
	case now.Before(e.at):
		e.at = now
		heap.Fix(&s.due, e.index)
	}
}

// wakeAll has every pending object looked at, as events may have been missed.
func (s *schedule) wakeAll(now time.Time) {
	for key := range s.entries {
		s.wake(key, now)
	}
}

func (s *schedule) wait(e *entry, at time.Time) {
	e.state, e.at = waiting, at
	heap.Push(&s.due, e)
}

func (s *schedule) drop(e *entry) {
	if e.state == waiting {
		heap.Remove(&s.due, e.index)
	}
	delete(s.entries, e.key)
}

// next returns how long to wait until there is something for begin; ok is false if only an event
// can bring that about.
func (s *schedule) next(now time.Time) (wait time.Duration, ok bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	return max(0, s.due[0].at.Sub(now)), true
}

// begin returns what a pass is to be over, objects of one namespace whose time has come, and regards
// it as under way; nil if there is nothing to do yet.
func (s *schedule) begin(now time.Time) []Key {
	var keys []Key
	for len(s.due) > 0 && len(keys) < mostKeys {
		e := s.due[0]
		if e.at.After(now) || len(keys) > 0 && e.key.Namespace != keys[0].Namespace {
			break
		}
		heap.Pop(&s.due)
		e.state, e.again = running, false
		keys = append(keys, e.key)
	}
	return keys
}

// end says how the pass over an object ended.
func (s *schedule) end(key Key, o outcome, now time.Time) {
	e := s.entries[key]
	switch {
	case e.gone:
		s.drop(e)
	case o.err != nil:
		e.failures++
		at := now.Add(double(minBackoff, e.failures-1, maxBackoff))
		if e.again {
			at = now
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

// queue is a heap of entries by time, then key.
type queue []*entry

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name)) < 0
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
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
