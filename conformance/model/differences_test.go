package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/conformance/model"
)

func secret(name string) model.Key { return model.Key{Kind: "Secret", Namespace: "a", Name: name} }

// blocking returns a reference to a Secret with blockOwnerDeletion.
func blocking(name string, uid model.UID) model.Owner {
	return model.Owner{APIVersion: "v1", Kind: "Secret", Name: name, UID: uid, Block: model.True}
}

// after applies operations to a state. Before each of them the collector works until it is idle; after the last one it
// does nothing.
func after(t *testing.T, s model.State, ops ...model.Op) model.State {
	t.Helper()
	for i, op := range ops {
		s, _ = model.Settle(s, model.First)
		op.ID = i + 1
		next, answer, _ := model.Apply(s, op)
		if answer.Code >= 300 {
			t.Fatalf("%s: %s", op, answer)
		}
		s = next
	}
	return s
}

// TestCollectorDiffersAsListed: where upstream's collector waits for another event or does nothing, the model's
// collector acts at once (conformance/differences.md). The tests that use the model, meta and differ, expect this of a
// server.
func TestCollectorDiffersAsListed(t *testing.T) {
	own := func(key model.Key, owners ...model.Owner) model.Op {
		return model.Op{Verb: model.Merge, Key: key, Set: model.SetOwners, Owners: owners}
	}
	create := func(name string, owners ...model.Owner) model.Op {
		return model.Op{Verb: model.Create, Key: secret(name), Owners: owners}
	}
	foreground := model.Op{Verb: model.Delete, Key: secret("o"), Policy: "Foreground"}
	held := create("held", blocking("o", "u1"))
	held.Finalizers = []string{"x.io/hold"}
	for name, c := range map[string]struct {
		ops  []model.Op
		want []model.Step
	}{
		"an object blocks its own foreground deletion (J-12)": {
			[]model.Op{create("o"), own(secret("o"), blocking("o", "u1")), foreground},
			[]model.Step{{Kind: model.Unblock, Key: secret("o"), Owners: []model.UID{"u1"}}},
		},
		"a late dependent with another owner (D-39)": {
			[]model.Op{create("o"), create("p"), held, foreground,
				create("late", blocking("o", "u1"), blocking("p", "u2"))},
			[]model.Step{{Kind: model.Drop, Key: secret("late"), Owners: []model.UID{"u1"}}},
		},
		"a late dependent without another owner (D-15)": {
			[]model.Op{create("o"), held, foreground, create("late", blocking("o", "u1"))},
			[]model.Step{{Kind: model.Collect, Key: secret("late"), Policy: "Background"}},
		},
		"both are changed in one write": {
			[]model.Op{create("o"), create("p"), create("d", blocking("o", "u1")), own(secret("d"), blocking("p", "u2"))}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, model.Steps(after(t, model.State{}, c.ops...))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestCollectorMayActDuringCollection: a DELETE of a collection deletes two owners of an object. The collector may act
// between them, and remove the reference to the first one. Or it may observe both deletions first, as upstream's mostly
// does, and delete the object with both references. Explain accepts both, so a server may do either.
func TestCollectorMayActDuringCollection(t *testing.T) {
	d := model.Key{Kind: "ConfigMap", Namespace: "a", Name: "d"}
	start := after(t, model.State{},
		model.Op{Verb: model.Create, Key: secret("o")}, model.Op{Verb: model.Create, Key: secret("p")},
		model.Op{Verb: model.Create, Key: d, Finalizers: []string{"x.io/hold"},
			Owners: []model.Owner{blocking("o", "u1"), blocking("p", "u2")}})
	all := model.Op{Verb: model.Collection, Key: model.Key{Kind: "Secret", Namespace: "a"}, Policy: "Foreground"}
	_, answer, _ := model.Apply(start, all)
	for name, c := range map[string]struct{ between, owners int }{"between": {1, 1}, "afterwards": {0, 2}} {
		t.Run(name, func(t *testing.T) {
			s, events := start, []model.Event(nil)
			take := func(next model.State, more []model.Event) { s, events = next, append(events, more...) }
			for i, owner := range []string{"o", "p"} {
				next, _, more := model.Apply(s, model.Op{Verb: model.Delete, Key: secret(owner), Policy: "Foreground"})
				take(next, more)
				if i < c.between {
					take(model.Settle(s, model.First))
				}
			}
			take(model.Settle(s, model.First))
			if o := s[d]; !o.Deleting || len(o.Owners) != c.owners {
				t.Errorf("it ends as %s, deleted with %d references wanted", o, c.owners)
			}
			if _, err := model.Explain([]model.State{start}, []model.Call{{Op: all, Response: answer}}, events); err != nil {
				t.Error(err)
			}
		})
	}
}
