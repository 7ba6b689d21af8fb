package model

import (
	"cmp"
	"maps"
	"slices"
)

// The finalizers of the collector.
const (
	Orphan     = "orphan"
	Foreground = "foregroundDeletion"
)

// UID is a symbol for a uid: "u17" is the uid of the object that operation 17 creates. No object has any other symbol.
type UID string

// Tri is a boolean that may be absent.
type Tri uint8

// The values.
const (
	Unset Tri = iota
	False
	True
)

// Owner is an owner reference.
type Owner struct {
	APIVersion, Kind, Name string
	UID                    UID
	Controller, Block      Tri
}

// Key identifies an object.
type Key struct{ Kind, Namespace, Name string }

// Compare orders keys as the store does. Kinds are ordered by name.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Kind, l.Kind), cmp.Compare(k.Namespace, l.Namespace), cmp.Compare(k.Name, l.Name))
}

// NoGrace is the grace period of an object that has none.
const NoGrace = -1

// Object has the properties on which the rules depend. Its slices are never changed.
type Object struct {
	Key
	UID UID
	// Version is the resourceVersion of the last write.
	Version    int64
	Generation int64
	// Label is the value of the only label, or empty.
	Label      string
	Owners     []Owner
	Finalizers []string
	Deleting   bool
	// Grace is deletionGracePeriodSeconds, or NoGrace.
	Grace int64
	// Period is a pod's own grace period in seconds; Bound reports whether the pod has a node (C-30).
	Period int64
	Bound  bool
}

// Same reports whether two objects are equal except for their versions.
func (o Object) Same(p Object) bool {
	return o.Key == p.Key && o.UID == p.UID && o.Generation == p.Generation && o.Label == p.Label &&
		slices.Equal(o.Owners, p.Owners) && slices.Equal(o.Finalizers, p.Finalizers) &&
		o.Deleting == p.Deleting && o.Grace == p.Grace
}

// Has reports whether the object has the finalizer.
func (o Object) Has(finalizer string) bool { return slices.Contains(o.Finalizers, finalizer) }

// Names reports whether a reference of the object has the uid.
func (o Object) Names(uid UID) bool {
	return slices.ContainsFunc(o.Owners, func(r Owner) bool { return r.UID == uid })
}

// waits reports whether the object is being deleted in the foreground.
func (o Object) waits() bool { return o.Deleting && o.Has(Foreground) && !o.Has(Orphan) }

// releases reports whether the object is being deleted and orphans its dependents.
func (o Object) releases() bool { return o.Deleting && o.Has(Orphan) }

// doomed reports whether nothing blocks the object's removal: the request that marked it is about to remove it (C-32).
func (o Object) doomed() bool { return o.Deleting && len(o.Finalizers) == 0 && o.Grace <= 0 }

// State is the store. Functions of this package return new states and never change their arguments.
type State map[Key]Object

func (s State) with(o Object) State {
	s = maps.Clone(s)
	if s == nil {
		s = State{}
	}
	s[o.Key] = o
	return s
}

func (s State) without(k Key) State {
	s = maps.Clone(s)
	delete(s, k)
	return s
}

// Keys returns the keys in order.
func (s State) Keys() []Key {
	return slices.SortedFunc(maps.Keys(s), Key.Compare)
}

// Find returns the object that has the uid.
func (s State) Find(uid UID) (Object, bool) {
	for _, o := range s {
		if o.UID == uid {
			return o, true
		}
	}
	return Object{}, false
}

// dependents returns, in order, the objects with a reference to the uid that the collector does not ignore.
func (s State) dependents(uid UID) []Object {
	var all []Object
	for _, o := range s {
		if o.Names(uid) && !KindOf(o.Kind).Ignored {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Object) int { return a.Compare(b.Key) })
	return all
}

// Same reports whether the states are equal except for versions.
func (s State) Same(t State) bool { return maps.EqualFunc(s, t, Object.Same) }

// After returns the state after the events.
func (s State) After(events []Event) State {
	next := maps.Clone(s)
	for _, e := range events {
		if e.Type == Deleted {
			delete(next, e.Object.Key)
		} else {
			next[e.Object.Key] = e.Object
		}
	}
	return next
}
