package model

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Pick chooses one of n steps, by a number below n.
type Pick func(n int) int

// First always takes the first step, Last the last one; Random is another schedule for each seed.
func First(int) int { return 0 }

// Last is a Pick.
func Last(n int) int { return n - 1 }

// Random returns a Pick.
func Random(seed uint64) Pick {
	r := rand.New(rand.NewPCG(seed, 1))
	return r.IntN
}

// Settle lets the collector work until nothing is left to do, and returns that state and all
// events in order. Every step removes an object, marks one, or takes a reference, a finalizer or a
// block away, so it ends.
func Settle(s State, pick Pick) (State, []Event) {
	var all []Event
	for {
		steps := Steps(s)
		if len(steps) == 0 {
			return s, all
		}
		next, events := Take(s, steps[pick(len(steps))])
		s, all = next, append(all, events...)
	}
}

// Confluent reports whether some schedules, in every of which each object sees the same events,
// lead to one state. Schedules are tried, not all enumerated.
func Confluent(s State, schedules int) bool {
	end, events := Settle(s, First)
	same := histories(events)
	for i := range schedules {
		pick := Last
		if i > 0 {
			pick = Random(uint64(i))
		}
		other, events := Settle(s, pick)
		if !other.Same(end) || !sameHistories(same, histories(events)) {
			return false
		}
	}
	return true
}

// histories are the events of each object.
func histories(events []Event) map[UID][]Event {
	h := map[UID][]Event{}
	for _, e := range events {
		h[e.Object.UID] = append(h[e.Object.UID], e)
	}
	return h
}

func sameHistories(a, b map[UID][]Event) bool {
	return maps.EqualFunc(a, b, func(x, y []Event) bool { return slices.EqualFunc(x, y, Event.Same) })
}

// Overlaps reports whether the collector may begin to work on what a resolved deletecollection has deleted while it
// still deletes the rest: it is one DELETE after the other (C-74), and which of them the collector is faster than
// would show. Each but the last is looked at; any of them may be the last.
func Overlaps(s State, op Op) bool {
	if op.Verb != Collection || op.DryRun {
		return false
	}
	items := s.list(op)
	if len(items) < 2 {
		return false
	}
	for last := range items {
		some := s
		for i, o := range items {
			if i != last {
				some, _, _ = remove(some, op.item(o.Key))
			}
		}
		if len(Steps(some)) > 0 {
			return true
		}
	}
	return false
}
