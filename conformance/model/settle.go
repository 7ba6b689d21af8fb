package model

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Pick chooses one of n steps. It returns an index below n.
type Pick func(n int) int

// First chooses the first step.
func First(int) int { return 0 }

// Last chooses the last step.
func Last(n int) int { return n - 1 }

// Random returns a Pick that chooses steps by a random sequence from the seed.
func Random(seed uint64) Pick {
	r := rand.New(rand.NewPCG(seed, 1))
	return r.IntN
}

// Settle executes steps of the collector until none is due. It returns the final state and all events in order. It
// ends, because every step removes or marks an object, or removes a reference, a finalizer or a block.
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

// Confluent reports whether several schedules lead to the same state, with the same events for each object. It tries
// only some of the possible schedules.
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

// Overlaps reports whether the collector may have steps while a resolved deletecollection still deletes objects. The
// objects are deleted one by one (C-74), so the result would depend on the collector's speed. Any of the objects may be
// the last one.
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
