package cases

import (
	"net/http"

	c "github.com/kubecascade/kubecascade/conformance"
)

func finalizers() []Case {
	return group("finalizers", finalize, 0,
		prove("keep", finalizersKeep, "C-40 C-60 C-91",
			"A deleted object with a finalizer stays, with a deletionTimestamp, and can still be updated."),
		prove("last-one", finalizersLast, "B-20",
			"Removing the last finalizer removes the object, and that request returns the object; removing another "+
				"finalizer doesn't."),
		prove("no-new-ones", finalizersNoNew, "B-14",
			"No finalizer can be added to an object that is being deleted."),
		prove("name-taken", finalizersName, "A-16",
			"The name of a terminating object is still in use."),
		prove("no-way-back", finalizersNoWayBack, "C-44 C-90",
			"No request removes or changes the deletionTimestamp."),
		prove("dry-run", finalizersDryRun, "B-70 C-65",
			"A dry run returns what would happen, and changes nothing."),
		prove("everywhere-background", finalizersBackground, "D-31 D-48 D-95",
			"With a finalizer in each generation a background cascade proceeds step by step, as each finalizer is "+
				"removed.", c.Collector),
		prove("everywhere-foreground", finalizersForeground, "D-43 D-47 D-97",
			"With a finalizer in each generation a foreground cascade deletes all at once, and removes objects "+
				"from the leaf up, as each finalizer is removed.", c.Collector),
		prove("everywhere-orphan", finalizersOrphan, "D-60 D-63",
			"A dependent with a finalizer is orphaned too.", c.Collector),
	)
}

func finalizersKeep(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held)
	t.Answered(t.Delete(held), held, c.Terminating, c.HasFinalizers(c.Hold))
	now := t.Patch(held, map[string]any{"data": map[string]any{"still": "writable"}})
	t.Expect(held, c.Terminating, c.HasFinalizers(c.Hold), c.Unchanged(now))
}

func finalizersLast(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held, c.Finalized("conformance.example.com/other"))
	t.Delete(held)
	t.Release(held)
	t.Expect(held, c.Terminating, c.HasFinalizers("conformance.example.com/other"))
	now := t.Patch(held, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	t.Check(
		len(now.GetFinalizers()) == 0 && now.GetUID() == held.GetUID(), "the object without finalizers in the response",
		now.YAML(), nil,
	)
	t.Expect(held, c.Gone)
}

func finalizersNoNew(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held)
	now := t.Answered(t.Delete(held), held, c.Terminating)
	for _, f := range []string{"conformance.example.com/more", "orphan", waiting} {
		patch := map[string]any{"metadata": map[string]any{"finalizers": []string{c.Hold, f}}}
		t.Rejected(t.TryPatch(held, patch), http.StatusUnprocessableEntity,
			"no new finalizers can be added if the object is being deleted, found new finalizers []string{\""+f+"\"}")
	}
	t.Expect(held, c.Unchanged(now))
}

func finalizersName(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held)
	t.Delete(held)
	again := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "held"}}
	t.Rejected(t.Send(http.MethodPost, c.ConfigMap.Path(held.GetNamespace(), ""), again), http.StatusConflict,
		`object is being deleted: configmaps "held" already exists`)
	t.Release(held)
	t.Accepted(t.Send(http.MethodPost, c.ConfigMap.Path(held.GetNamespace(), ""), again), http.StatusCreated)
}

func finalizersNoWayBack(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held)
	first := t.Answered(t.Delete(held), held, c.Terminating).GetDeletionTimestamp()
	for _, value := range []any{nil, "2030-01-01T00:00:00Z"} {
		t.Patch(held, map[string]any{"metadata": map[string]any{"deletionTimestamp": value}})
	}
	t.Delete(held, c.Background)
	t.Expect(held, c.Has("have the deletionTimestamp of the first DELETE", func(o *Object) bool {
		return o.GetDeletionTimestamp().Equal(first)
	}))
}

func finalizersDryRun(t *T) {
	plain, held := t.Make(c.ConfigMap, "plain"), t.Make(c.ConfigMap, "held", c.Held)
	t.Answered(t.Delete(plain, c.DryRun, c.Background), plain, c.Gone)
	t.Answered(t.Delete(plain, c.DryRun, c.Foreground), plain, c.Terminating, c.HasFinalizers(waiting))
	t.Answered(t.Delete(held, c.DryRun, c.Orphan), held, c.Terminating, c.HasFinalizers(c.Hold, "orphan"))
	t.Untouched(plain, held)
}

// generations creates a chain of three objects. Each has a finalizer and blocks its owner.
func generations(t *T) (root, middle, leaf *Object) {
	root = t.Make(c.ConfigMap, "root", c.Held)
	middle = t.Make(c.ConfigMap, "middle", c.Blocking(root), c.Held)
	leaf = t.Make(c.ConfigMap, "leaf", c.Blocking(middle), c.Held)
	t.Settle()
	return root, middle, leaf
}

func finalizersBackground(t *T) {
	root, middle, leaf := generations(t)
	t.Delete(root, c.Background)
	t.Pass()
	t.Untouched(middle)
	releaseLast(t, root)
	t.Await(middle, c.Terminating, c.HasFinalizers(c.Hold))
	t.Pass()
	t.Untouched(leaf)
	t.Release(middle)
	t.Await(leaf, c.Terminating, c.HasFinalizers(c.Hold))
	releaseLast(t, leaf)
}

func finalizersForeground(t *T) {
	root, middle, leaf := generations(t)
	t.Delete(root, c.Foreground)
	t.Await(leaf, c.Terminating, c.HasFinalizers(c.Hold))
	t.Pass()
	t.ExpectAll([]*Object{middle, root}, c.Terminating, c.HasFinalizers(c.Hold, waiting))
	t.Release(leaf)
	t.Await(middle, c.Terminating, c.HasFinalizers(c.Hold))
	t.Pass()
	t.Expect(root, c.Terminating, c.HasFinalizers(c.Hold, waiting))
	t.Release(middle)
	t.Await(root, c.Terminating, c.HasFinalizers(c.Hold))
	releaseLast(t, root)
}

func finalizersOrphan(t *T) {
	root, middle, leaf := generations(t)
	t.Delete(root, c.Orphan)
	t.Await(root, c.Terminating, c.HasFinalizers(c.Hold))
	t.Expect(middle, c.Alive, c.HasOwners(), c.HasFinalizers(c.Hold))
	t.Release(root)
	t.Pass()
	t.Expect(middle, c.Alive)
	t.Untouched(leaf)
}
