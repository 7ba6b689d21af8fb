package cases

import (
	"net/http"

	c "github.com/kubecascade/kubecascade/conformance"
)

func orphan() []Case {
	return group("orphan", collect+"#orphaned-dependents", c.Collector,
		prove("dependents", orphanDependents, "D-60 D-62",
			"An owner deleted with Orphan is removed; its dependents stay, without the reference, blocking or not."),
		prove("response", orphanAnswer, "C-20 C-21 C-40",
			"An owner deleted with Orphan is returned with a deletionTimestamp, and with the finalizer orphan "+
				"after its other finalizers."),
		prove("other-owners", orphanOtherOwners, "D-60",
			"A dependent loses only the reference to the owner that was deleted."),
		prove("only-children", orphanOnlyChildren, "D-63",
			"Only direct dependents are orphaned: their own dependents keep their references."),
		prove("wide-fan", orphanFan, "D-60",
			"All of an owner's sixty dependents are orphaned before it is removed."),
		prove("held-owner", orphanHeldOwner, "D-60 D-44",
			"Dependents are orphaned although another finalizer keeps the owner; the collector removes only the "+
				"finalizer orphan."),
		prove("finalizer-from-birth", orphanFromBirth, "C-20 C-22",
			"A DELETE without options of an object that carries the finalizer orphan orphans its dependents."),
		prove("overruled-by-background", orphanOverruled, "C-22",
			"Background removes the finalizer orphan: the owner is removed at once, and its dependents after it."),
		prove("overruled-by-foreground", orphanOverruledForeground, "C-22",
			"Foreground replaces the finalizer orphan."),
		prove("adopted-afterwards", orphanAdopted, "D-60 D-48",
			"An orphan that is given another owner is deleted with that one."),
	)
}

func orphanDependents(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependents := []*Object{
		t.Make(c.ConfigMap, "silent", c.By(owner)),
		t.Make(c.ConfigMap, "blocking", c.Blocking(owner)),
		t.Make(c.ConfigMap, "non-blocking", c.NonBlocking(owner)),
		t.Make(c.Secret, "secret", c.Blocking(owner)),
	}
	orphanAll(t, owner, dependents, c.ConfigMap, c.Secret)
}

func orphanAnswer(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	now := t.Answered(t.Delete(owner, c.Orphan), owner, c.Terminating, c.HasFinalizers(c.Hold, "orphan"))
	t.Check(now.GetFinalizers()[1] == "orphan", "the finalizer orphan at the end of the list", now.YAML(), nil)
	t.Await(owner, c.HasFinalizers(c.Hold))
}

func orphanOtherOwners(t *T) {
	leaving, staying := t.Make(c.ConfigMap, "leaving"), t.Make(c.ConfigMap, "staying")
	dependent := t.Make(c.ConfigMap, "dependent", c.By(leaving), c.Blocking(staying))
	t.Settle()
	t.Delete(leaving, c.Orphan)
	t.Await(leaving, c.Gone)
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners(staying))
	t.Delete(staying)
	t.Await(dependent, c.Gone)
}

func orphanOnlyChildren(t *T) {
	root := t.Make(c.ConfigMap, "root")
	child := t.Make(c.ConfigMap, "child", c.By(root))
	grandchild := t.Make(c.ConfigMap, "grandchild", c.By(child))
	t.Settle()
	t.Delete(root, c.Orphan)
	t.Await(root, c.Gone)
	t.Pass()
	t.Expect(child, c.Alive, c.HasOwners())
	t.Expect(grandchild, c.Alive, c.HasOwners(child), c.Unchanged(grandchild))
}

func orphanFan(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependents := fan(t, 60, c.By(owner))
	t.Settle()
	journal := t.Watch(c.ConfigMap)
	t.Delete(owner, c.Orphan)
	t.ReleasedBefore(journal, dependents, owner)
	t.Pass()
	t.ExpectAll(dependents, c.Alive, c.HasOwners())
}

func orphanHeldOwner(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	dependent := t.Make(c.ConfigMap, "dependent", c.By(owner))
	t.Settle()
	t.Delete(owner, c.Orphan)
	t.Await(owner, c.Terminating, c.HasFinalizers(c.Hold))
	t.Expect(dependent, c.Alive, c.HasOwners())
	releaseLast(t, owner)
	t.Pass()
	t.Expect(dependent, c.Alive)
}

func orphanFromBirth(t *T) { orphans(t, c.ConfigMap, by(), c.Finalized("orphan")) }

func orphanOverruled(t *T) { inBackground(t, c.ConfigMap, by(c.Background), c.Finalized("orphan")) }

func orphanOverruledForeground(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Finalized("orphan"))
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Settle()
	t.Answered(t.Delete(owner, c.Foreground), owner, c.Terminating, c.HasFinalizers(waiting))
	t.AwaitAll([]*Object{dependent, owner}, c.Gone)
}

func orphanAdopted(t *T) {
	first, second := t.Make(c.ConfigMap, "first"), t.Make(c.ConfigMap, "second")
	dependent := t.Make(c.ConfigMap, "dependent", c.By(first))
	t.Settle()
	t.Delete(first, c.Orphan)
	t.Await(first, c.Gone)
	t.SetOwners(dependent, c.By(second))
	t.Delete(second, c.Background)
	t.Await(dependent, c.Gone)
}

func legacy() []Case {
	all := group("legacy", options, c.Collector,
		prove("orphan-dependents-true", legacyTrue, "C-20 C-22 D-60",
			"orphanDependents true orphans, as Orphan does."),
		prove("orphan-dependents-false", legacyFalse, "C-20 C-22 D-48",
			"orphanDependents false deletes the dependents in the background, regardless of the kind's default."),
		prove("by-query", legacyQuery, "C-02 C-03",
			"orphanDependents may be in the query."),
	)
	return append(all, group("legacy", options, 0,
		prove("response-202", legacyAccepted, "C-61",
			"A deletion with orphanDependents false that is not finished gets 202; one with "+
				"propagationPolicy never is."),
		prove("excludes-policy", legacyBoth, "C-05",
			"orphanDependents and propagationPolicy together are rejected, and nothing is deleted."),
	)...)
}

func legacyTrue(t *T) { orphans(t, c.ConfigMap, by(c.OrphanDependents(true))) }

func legacyFalse(t *T) {
	answer := inBackground(t, c.ReplicationController, by(c.OrphanDependents(false)))
	t.Accepted(answer, http.StatusOK)
}

func legacyAccepted(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	answer := t.Accepted(t.Delete(owner, c.OrphanDependents(false)), http.StatusAccepted)
	t.Answered(answer, owner, c.Terminating, c.HasFinalizers(c.Hold))
	t.Accepted(t.Delete(owner, c.Background), http.StatusOK)
	releaseLast(t, owner)
}

func legacyQuery(t *T) { orphans(t, c.ConfigMap, byQuery("?orphanDependents=true", nil)) }

func legacyBoth(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	t.Rejected(t.TryDelete(owner, c.OrphanDependents(true), c.Orphan), http.StatusUnprocessableEntity,
		"orphanDependents and deletionPropagation cannot be both set")
	t.Untouched(owner)
}
