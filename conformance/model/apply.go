package model

import (
	"fmt"
	"slices"
)

// Apply returns the state after a resolved operation, the response, and the events of the operation. If there are two
// events, the operation marks a pod and then removes it (C-32). Other requests may be executed between these two
// events. The returned state is the state after the second one.
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
	if !valid(o) { // validation precedes the read of the store
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
