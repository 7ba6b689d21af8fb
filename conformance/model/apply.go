package model

import (
	"fmt"
	"slices"
)

// Apply returns what a resolved operation makes of a state, its answer, and the events that follow.
// Where there are two, a pod is marked and then removed (C-32), and others may act in between:
// the state is the one after the last.
func Apply(s State, op Op) (State, Response, []Event) {
	switch op.Verb {
	case Create:
		return create(s, op)
	case Get:
		o, ok := s[op.Key]
		if !ok {
			return s, notFound(), nil
		}
		return s, Response{Code: 200, Object: &o}, nil
	case Delete:
		return remove(s, op)
	case Collection:
		return collection(s, op)
	case Put, Merge, Strategic, JSON:
		return update(s, op)
	}
	panic(fmt.Sprintf("model: no verb %q", op.Verb))
}

func create(s State, op Op) (State, Response, []Event) {
	k := KindOf(op.Key.Kind)
	if k.Namespaced && !slices.Contains(Namespaces, op.Key.Namespace) {
		return s, notFound(), nil // B-72
	}
	o := Object{
		Key: op.Key, UID: UID(fmt.Sprintf("u%d", op.ID)), Owners: dedup(op.Owners), Finalizers: op.Finalizers,
		Label: op.Label, Grace: NoGrace, Bound: op.Bound, Period: op.Period,
	}
	if k.Generation {
		o.Generation = 1
	}
	if !valid(o) { // before the store is asked
		return s, invalid(), nil
	}
	if _, ok := s[op.Key]; ok {
		return s, Response{Code: 409, Reason: "AlreadyExists"}, nil
	}
	if op.DryRun {
		return s, Response{Code: 201, Object: &o}, nil
	}
	return s.with(o), Response{Code: 201, Object: &o}, []Event{{Added, o}}
}
