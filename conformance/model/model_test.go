package model_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// scene returns a state, and the events that lead to it, with an owner "o" and its dependent "d".
func scene(block model.Tri) (model.State, model.Object, model.Object) {
	o := model.Op{ID: 1, Verb: model.Create, Key: model.Key{Kind: "ConfigMap", Namespace: "a", Name: "o"}}
	d := model.Op{ID: 2, Verb: model.Create, Key: model.Key{Kind: "ConfigMap", Namespace: "a", Name: "d"},
		Owners: []model.Owner{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u1", Block: block}}}
	s, _, _ := model.Apply(model.State{}, o)
	s, _, _ = model.Apply(s, d)
	return s, s[o.Key], s[d.Key]
}

func TestOnlyPossibleHistoriesAreExplained(t *testing.T) {
	s, o, d := scene(model.Unset)
	background := model.Call{
		Op: model.Op{Verb: model.Delete, Key: o.Key, Policy: "Background"}, Response: model.Response{Code: 200},
	}
	conflict := background
	conflict.Response = model.Response{Code: 409, Reason: "Conflict"}
	gone := func(o model.Object) model.Event { return model.Event{Type: model.Deleted, Object: o} }
	marked := o
	marked.Deleting, marked.Grace = true, 0
	for name, test := range map[string]struct {
		calls  []model.Call
		events []model.Event
		want   bool
	}{
		"nothing":                        {want: true},
		"a background cascade":           {[]model.Call{background}, []model.Event{gone(o), gone(d)}, true},
		"a dependent before its owner":   {[]model.Call{background}, []model.Event{gone(d), gone(o)}, false},
		"a dependent with a solid owner": {nil, []model.Event{gone(d)}, false},
		"an owner by itself":             {nil, []model.Event{gone(o), gone(d)}, false},
		"a dependent that stays":         {[]model.Call{background}, []model.Event{gone(o)}, false},
		"an answer without effect":       {[]model.Call{background}, nil, false},
		"another answer":                 {[]model.Call{conflict}, []model.Event{gone(o), gone(d)}, false},
		"another effect":                 {[]model.Call{background}, []model.Event{{Type: model.Modified, Object: marked}}, false},
		"two calls, one of which comes late": {[]model.Call{
			background, {Op: background.Op, Response: model.Response{Code: 404, Reason: "NotFound"}},
		},
			[]model.Event{gone(o), gone(d)}, true},
		"a call that was sent after the event": {[]model.Call{{Op: background.Op, Response: background.Response, Sent: 1}},
			[]model.Event{gone(o), gone(d)}, false},
		"an answer that was lost, with effect":    {[]model.Call{{Op: background.Op}}, []model.Event{gone(o), gone(d)}, true},
		"an answer that was lost, without effect": {[]model.Call{{Op: background.Op}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.Explain([]model.State{s}, test.calls, test.events)
			if (err == nil) != test.want || err != nil && !errors.Is(err, model.ErrHistory) {
				t.Errorf("explained: %v", err)
			}
		})
	}
}

// TestUpdateOfRemovedObjectMaySucceed: of two updates that each remove a terminating object, both may succeed (B-20),
// but only if it is gone.
func TestUpdateOfRemovedObjectMaySucceed(t *testing.T) {
	k := model.Key{Kind: "ConfigMap", Namespace: "a", Name: "o"}
	s, _, _ := model.Apply(model.State{}, model.Op{ID: 1, Verb: model.Create, Key: k, Finalizers: []string{"x.io/hold"}})
	s, _, _ = model.Apply(s, model.Op{ID: 2, Verb: model.Delete, Key: k, Policy: "Background"})
	release := model.Op{ID: 3, Verb: model.Merge, Key: k, Set: model.SetFinalizers}
	_, answer, events := model.Apply(s, release)
	if len(events) != 1 || events[0].Type != model.Deleted {
		t.Fatalf("the update has the effects %v", events)
	}
	call := model.Call{Op: release, Response: answer}
	for _, test := range []struct {
		calls  int
		events []model.Event
		want   bool
	}{{1, events, true}, {2, events, true}, {1, nil, false}, {2, nil, false}, {0, events, false}} {
		if _, err := model.Explain([]model.State{
			s,
		}, []model.Call{call, call}[:test.calls], test.events); (err == nil) != test.want {
			t.Errorf("%d calls, %d events: %v", test.calls, len(test.events), err)
		}
	}
}

// TestLateDropSortsReferences: a collector that drops a reference which an update has removed makes references with one
// uid adjacent (D-50), but only if there was such a reference.
func TestLateDropSortsReferences(t *testing.T) {
	for _, first := range []model.UID{"x1", "u1"} {
		s, owner, d := scene(model.Unset)
		secret := model.Key{Kind: "Secret", Namespace: "a", Name: "p"}
		other, _, _ := model.Apply(s, model.Op{ID: 3, Verb: model.Create, Key: secret})
		a := model.Owner{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Key.Name, UID: first}
		b := model.Owner{APIVersion: "v1", Kind: "Secret", Name: "p", UID: "u3"}
		again := a
		again.UID, again.Block = "u1", model.False
		set := func(s model.State, owners ...model.Owner) (model.State, model.Call, []model.Event) {
			op := model.Op{Verb: model.Merge, Key: d.Key, Set: model.SetOwners, Owners: owners}
			next, answer, events := model.Apply(s, op)
			return next, model.Call{Op: op, Response: answer}, events
		}
		before, _, _ := set(other, a, b)
		after, call, events := set(before, again, b, model.Owner{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u1"})
		sorted, _, _ := set(after, after[d.Key].Owners[0], after[d.Key].Owners[2], b)
		events = append(events, model.Event{Type: model.Modified, Object: sorted[d.Key]})
		if _, err := model.Explain([]model.State{before}, []model.Call{call}, events); (err == nil) != (first == "x1") {
			t.Errorf("with a reference to %s: %v", first, err)
		}
	}
}

func TestDeletionWithLivingOwnerIsUnsafe(t *testing.T) {
	s, _, d := scene(model.True)
	if !model.Unsafe(s, d) {
		t.Error("a dependent may go while its owner is there")
	}
	next, _, _ := model.Apply(
		s, model.Op{Verb: model.Delete, Key: model.Key{Kind: "ConfigMap", Namespace: "a", Name: "o"}, Policy: "Foreground"},
	)
	if model.Unsafe(next, d) {
		t.Error("a dependent may not go while its owner waits for it")
	}
	delete(next, model.Key{Kind: "ConfigMap", Namespace: "a", Name: "o"})
	if all := model.Abandoned(next); len(all) != 1 || !all[0].Same(d) {
		t.Errorf("abandoned objects: %v", all)
	}
}

// TestCollectorLeavesNoAbandonedObjects: under any schedule the collector ends in a state without abandoned objects,
// and the operations of a seed are always the same.
func TestCollectorLeavesNoAbandonedObjects(t *testing.T) {
	for seed := range uint64(10) {
		ops := model.Generate(seed, 300, model.Options{})
		if diff := cmp.Diff(ops, model.Generate(seed, 300, model.Options{})); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		s := model.State{}
		for _, op := range ops {
			s, _, _ = model.Apply(s, op.Resolve(s))
			var events []model.Event
			before := s
			s, events = model.Settle(s, model.Random(seed))
			if all := model.Abandoned(s); len(all) > 0 {
				t.Fatalf("seed %d, after %s: abandoned objects: %v", seed, op, all)
			}
			if _, err := model.Explain([]model.State{before}, nil, events); err != nil {
				t.Fatalf("seed %d, after %s: %v", seed, op, err)
			}
		}
	}
}

// TestReferencesOfDeletedObjectStay: the collector does not remove references of an object that is being deleted,
// unless it decided so before and the owner can't come back (D-51).
func TestReferencesOfDeletedObjectStay(t *testing.T) {
	ref := func(name string, uid model.UID, block model.Tri) model.Owner {
		return model.Owner{APIVersion: "v1", Kind: "Secret", Name: name, UID: uid, Block: block}
	}
	owner := model.Object{Key: model.Key{Kind: "Secret", Namespace: "a", Name: "o"}, UID: "u1"}
	other := model.Object{Key: model.Key{Kind: "Secret", Namespace: "a", Name: "p"}, UID: "u2"}
	for _, c := range []struct {
		name      string
		was, is   model.Owner
		lived, ok bool
	}{
		{"gone while it lived", ref("gone", "u9", model.Unset), ref("gone", "u9", model.Unset), true, true},
		{"gone, and the reference has changed", ref("gone", "u9", model.Unset), ref("gone", "u9", model.False), true, true},
		{"gone when it was deleted already", ref("gone", "u9", model.Unset), ref("gone", "u9", model.Unset), false, false},
		{"of a wrong name", ref("x", "u2", model.Unset), ref("x", "u2", model.Unset), true, true},
		{"of a wrong name that was mended", ref("x", "u2", model.Unset), ref("p", "u2", model.Unset), true, false},
	} {
		d := model.Object{Key: model.Key{Kind: "ConfigMap", Namespace: "a", Name: "d"}, UID: "u3",
			Owners:     []model.Owner{ref("o", "u1", model.Unset), c.was},
			Finalizers: []string{"x.io/hold"}, Deleting: !c.lived, Grace: model.NoGrace}
		dying, after := d, d
		dying.Deleting, dying.Owners = true, []model.Owner{ref("o", "u1", model.Unset), c.is}
		after.Deleting, after.Owners = true, dying.Owners[:1]
		past := []model.State{
			{owner.Key: owner, other.Key: other, d.Key: d}, {owner.Key: owner, other.Key: other, d.Key: dying},
		}
		if _, err := model.Explain(past, nil, []model.Event{{Type: model.Modified, Object: after}}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestWaitingOwnerOfHeldDependentIsNotConfluent: one of two owners waits, the other is about to wait, and a finalizer
// blocks the removal of their dependent.
func TestWaitingOwnerOfHeldDependentIsNotConfluent(t *testing.T) {
	s, o, d := scene(model.True)
	if !model.Confluent(s, 5) {
		t.Error("a state at rest has one end")
	}
	other := model.Key{Kind: "ConfigMap", Namespace: "a", Name: "other"}
	ref := func(name string, uid model.UID) model.Owner {
		return model.Owner{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: uid, Block: model.True}
	}
	for _, op := range []model.Op{
		{ID: 3, Verb: model.Create, Key: other, Owners: []model.Owner{ref("o", "u1")}},
		{ID: 4, Verb: model.Merge, Key: d.Key, Set: model.SetOwners | model.SetFinalizers, Finalizers: []string{"x.io/hold"},
			Owners: []model.Owner{ref("o", "u1"), ref("other", "u3")}},
		{ID: 5, Verb: model.Delete, Key: o.Key, Policy: "Foreground"},
	} {
		s, _, _ = model.Apply(s, op)
	}
	if model.Confluent(s, 20) {
		t.Error("whether the dependent loses the reference to its owner first depends on the order")
	}
}

func TestShrinkKeepsTheFailure(t *testing.T) {
	ops := model.Generate(1, 200, model.Options{})
	fails := func(ops []model.Op) bool {
		has := func(id int) bool { return slices.ContainsFunc(ops, func(o model.Op) bool { return o.ID == id }) }
		return has(17) && has(142)
	}
	var ids []string
	for _, o := range model.Shrink(ops, 500, fails) {
		ids = append(ids, fmt.Sprint(o.ID))
	}
	if diff := cmp.Diff([]string{"17", "142"}, ids); diff != "" {
		t.Error(diff)
	}
}

// TestOverlapsIgnoresTimingOfCollectors: the comparison of two servers omits operations whose result depends on the
// timing of their collectors.
func TestOverlapsIgnoresTimingOfCollectors(t *testing.T) {
	s := model.State{}
	for id, owner := range []int{0, 1, 0} {
		op := model.Op{
			ID: id + 1, Verb: model.Create, Key: model.Key{Kind: "Secret", Namespace: "a", Name: fmt.Sprint("n", id)},
		}
		if owner > 0 {
			op.Owners = []model.Owner{{APIVersion: "v1", Kind: "Secret", Name: "n0", UID: "u1"}}
		}
		s, _, _ = model.Apply(s, op)
	}
	all := model.Op{Verb: model.Collection, Key: model.Key{Kind: "Secret", Namespace: "a"}}
	if !model.Overlaps(s, all) {
		t.Error("the dependent may be collected before the collection comes to it")
	}
	alone, _, _ := model.Apply(s, model.Op{Verb: model.Delete, Key: model.Key{Kind: "Secret", Namespace: "a", Name: "n1"}})
	if model.Overlaps(alone, all) {
		t.Error("the remaining object has no owner")
	}
	for seed := range uint64(20) {
		for _, op := range model.Generate(seed, 200, model.Options{Confluent: true}) {
			if op.Verb == model.Collection && op.Key.Kind == "Event" {
				t.Fatalf("seed %d: %s lists what the collector reports", seed, op)
			}
		}
	}
}

// TestReferenceWithWrongCoordinatesIsNoOwner: an object with the uid of a reference, but with another name, kind or
// namespace, is not the owner (D-71, D-75).
func TestReferenceWithWrongCoordinatesIsNoOwner(t *testing.T) {
	owner := model.Object{Key: model.Key{Kind: "Secret", Namespace: "a", Name: "o"}, UID: "u1"}
	for _, c := range []struct {
		namespace string
		ref       model.Owner
		want      int
	}{
		{"a", model.Owner{APIVersion: "v1", Kind: "Secret", Name: "o", UID: "u1"}, 0},
		{"a", model.Owner{APIVersion: "v1", Kind: "Secret", Name: "other", UID: "u1"}, 1},
		{"a", model.Owner{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u1"}, 1},
		{"b", model.Owner{APIVersion: "v1", Kind: "Secret", Name: "o", UID: "u1"}, 1},
		{"a", model.Owner{APIVersion: "v1", Kind: "Widget", Name: "o", UID: "u1"}, 0},
	} {
		d := model.Object{
			Key: model.Key{Kind: "ConfigMap", Namespace: c.namespace, Name: "d"}, UID: "u2", Owners: []model.Owner{c.ref},
		}
		if got := model.Abandoned(model.State{owner.Key: owner, d.Key: d}); len(got) != c.want {
			t.Errorf("%s in %s: %v", c.ref.Kind, c.namespace, got)
		}
	}
}
