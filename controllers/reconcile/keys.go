package reconcile

import "time"

// Keys decides when a pass over a key may begin. It contains only the keys that have a waiting or an active pass, or a
// pass that ended less than Outcome.Rest ago. The time is an argument of its methods. NewKeys returns one.
type Keys[K comparable] struct {
	entries map[K]*entry
	waiting *Queue[K]
	// resting has the keys without pending work for which no pass may begin yet.
	resting *Queue[K]
	backoff Backoff
}

// entry is a key that waits for a pass or has an active one.
type entry struct {
	running bool
	// again reports whether there was an event during the pass.
	again bool
	// failures is the number of consecutive failed passes.
	failures int
	// rest is the time before which no pass may begin.
	rest time.Time
	// why and err are those of the Wait for the waiting pass.
	why string
	err error
}

// Outcome is the result of a pass over a key.
type Outcome struct {
	// Err makes the key wait for its back-off.
	Err error
	// Again is the time until the next pass if there is no event before; 0 for no pass. After an error it is the
	// minimum time. Why is the reason for the next pass.
	Again time.Duration
	Why   string
	// Soon requests another pass, like an event during this pass.
	Soon bool
	// Rest is the minimum time until the next pass, even after an event.
	Rest time.Duration
}

// NewKeys returns Keys without a pass. compare orders keys that are due at the same time.
func NewKeys[K comparable](b Backoff, compare func(a, b K) int) *Keys[K] {
	return &Keys[K]{entries: map[K]*entry{}, waiting: NewQueue(compare), resting: NewQueue(compare), backoff: b}
}

// Observe requests a pass over the key as soon as one may begin.
func (s *Keys[K]) Observe(key K, now time.Time) {
	e := s.entries[key]
	if e == nil {
		e = &entry{}
		s.entries[key] = e
	}
	if e.running {
		e.again = true
		return
	}
	s.resting.Remove(key)
	due := Later(now, e.rest)
	if at, ok := s.waiting.At(key); !ok || due.Before(at) {
		e.why, e.err = AfterChange, nil
		s.waiting.Put(key, due)
	}
}

// Wake makes every waiting pass due as soon as it may begin, except passes in back-off after a failure. The caller
// calls Wake after the wall clock was set.
func (s *Keys[K]) Wake(now time.Time) {
	for key, e := range s.entries {
		switch _, waits := s.waiting.At(key); {
		case e.running: // the active pass may have begun before the clock was set
			e.again = true
		case waits && e.failures == 0:
			s.waiting.Put(key, Later(now, e.rest))
		}
	}
}

// Wait returns the time until Begin returns a key. The result is false if only an event can cause a pass.
func (s *Keys[K]) Wait(now time.Time) (time.Duration, bool) { return s.waiting.Wait(now) }

// Waits returns the passes that wait for a time, at most most of them, the earliest first, and the number of others.
func (s *Keys[K]) Waits(most int, about func(K) Object) (all []Wait, more int) {
	for _, key := range s.waiting.Earliest(most) {
		at, _ := s.waiting.At(key)
		all = append(all, Wait{Object: about(key), Until: at, Why: s.entries[key].why, Err: s.entries[key].err})
	}
	return all, s.waiting.Len() - len(all)
}

// Begin returns a key whose pass begins now, and records it as active; ok is false if there is none.
func (s *Keys[K]) Begin(now time.Time) (key K, ok bool) {
	for rested, is := s.resting.Due(now); is; rested, is = s.resting.Due(now) {
		s.resting.Remove(rested)
		delete(s.entries, rested)
	}
	if key, ok = s.waiting.Due(now); ok {
		s.waiting.Remove(key)
		e := s.entries[key]
		e.running, e.again = true, false
	}
	return key, ok
}

// End records the outcome of a pass.
func (s *Keys[K]) End(key K, o Outcome, now time.Time) {
	e := s.entries[key]
	e.running, e.rest = false, now.Add(o.Rest)
	if o.Err == nil {
		e.failures = 0
	} else {
		e.failures++
	}
	e.why, e.err = AfterChange, o.Err
	switch {
	case e.again || o.Soon:
		s.waiting.Put(key, e.rest)
	case o.Err != nil:
		e.why = AfterFailure
		s.waiting.Put(key, now.Add(max(o.Rest, o.Again, s.backoff.After(e.failures))))
	case o.Again > 0:
		e.why = o.Why
		s.waiting.Put(key, now.Add(max(o.Rest, o.Again)))
	case o.Rest > 0:
		s.resting.Put(key, e.rest)
	default:
		delete(s.entries, key)
	}
}
