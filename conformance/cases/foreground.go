package cases

import (
	"slices"

	c "github.com/kubecascade/kubecascade/conformance"
)

// waiting is the finalizer of an owner that waits for its dependents.
const waiting = "foregroundDeletion"

func foreground() []Case {
	return group("foreground", collect+"#foreground-deletion", c.Collector,
		prove("response", foregroundAnswer, "C-40 C-60 C-92",
			"An owner deleted with Foreground is returned with a deletionTimestamp and the finalizer "+
				"foregroundDeletion; it stays visible."),
		prove("blocking", foregroundBlocking, "D-43 D-96 D-S25",
			"The owner stays until its last dependent with blockOwnerDeletion true is removed."),
		prove("leaves", foregroundLeaves, "D-41 D-47",
			"A dependent without dependents of its own is deleted in the background, though its owner waits for it: it never has the finalizer foregroundDeletion."),
		prove("non-blocking", foregroundNonBlocking, "D-43 D-46 D-96 D-S23",
			"Dependents with blockOwnerDeletion false or unset are deleted too, but the owner doesn't wait for them."),
		prove("order", foregroundOrder, "D-47",
			"Along blocking references a tree is removed from its leaves to its root."),
		prove("wide-fan", foregroundFan, "D-43",
			"An owner of sixty blocking dependents is removed after the last of them."),
		prove("other-kinds", foregroundKinds, "D-43",
			"A dependent of another kind also blocks its owner."),
		prove("middle-waits", foregroundMiddle, "D-40 D-47",
			"A dependent that has dependents of its own is deleted in the foreground itself, and waits for them."),
		prove("no-dependents", foregroundLone, "D-98",
			"An owner without dependents is removed: the collector removes the finalizer."),
		prove("other-finalizers", foregroundOthers, "D-97",
			"The collector removes only foregroundDeletion from the owner; its dependents are removed while "+
				"another finalizer still keeps the owner."),
		prove("finalizer-from-birth", foregroundFromBirth, "C-20 C-22",
			"A DELETE without options of an object that carries foregroundDeletion is a foreground deletion."),
		prove("finalizer-removed", foregroundTakenOff, "B-20 D-48",
			"If a client removes foregroundDeletion, the owner is removed at once; its dependents are deleted in "+
				"the background."),
		prove("created-during", foregroundCreatedDuring, "D-43 D-47",
			"A blocking dependent that is created while its owner waits is deleted too, before the owner."),
		prove("unblocked-during", foregroundUnblocked, "D-18",
			"Setting blockOwnerDeletion of the last blocking reference to false ends the wait of the owner."),
		prove("reference-removed-during", foregroundReferenceRemoved, "D-18",
			"Removing the last blocking reference ends the wait of the owner."),
		prove("dependent-replaced", foregroundDependentFreed, "D-22 D-43",
			"A waiting owner is removed when another client deletes its last blocking dependent."),
	)
}

func foregroundAnswer(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner), c.Held)
	t.Settle()
	now := t.Answered(t.Delete(owner, c.Foreground), owner, c.Terminating, c.HasFinalizers(waiting))
	grace := now.GetDeletionGracePeriodSeconds()
	t.Check(grace != nil && *grace == 0, "deletionGracePeriodSeconds 0 in the response", now.YAML(), nil)
	t.Expect(owner, c.Terminating, c.HasFinalizers(waiting))
	t.Await(dependent, c.Terminating)
	t.Expect(owner, c.Terminating, c.HasFinalizers(waiting))
}

func foregroundBlocking(t *T) { inForeground(t, c.ConfigMap, c.ConfigMap, by(c.Foreground)) }

func foregroundNonBlocking(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependents := []*Object{
		t.Make(c.ConfigMap, "silent", c.By(owner), c.Held),
		t.Make(c.ConfigMap, "non-blocking", c.NonBlocking(owner), c.Held),
	}
	t.Settle()
	t.Delete(owner, c.Foreground)
	t.Await(owner, c.Gone)
	t.AwaitAll(dependents, c.Terminating, c.HasFinalizers(c.Hold))
}

func foregroundLeaves(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	plain, held := t.Make(c.ConfigMap, "plain", c.Blocking(owner)), t.Make(c.ConfigMap, "held", c.Blocking(owner), c.Held)
	t.Settle()
	journal := t.Watch(c.ConfigMap)
	t.Delete(owner, c.Foreground)
	t.Await(held, c.Terminating, c.HasFinalizers(c.Hold))
	t.Release(held)
	t.NeverCarried(journal, waiting, plain, held)
	t.Await(owner, c.Gone)
}

func foregroundOrder(t *T) {
	root := t.Make(c.ConfigMap, "root")
	middle := []*Object{
		t.Make(c.ConfigMap, "middle-a", c.Blocking(root)), t.Make(c.ConfigMap, "middle-b", c.Blocking(root)),
	}
	var leaves []*Object
	for _, m := range middle {
		leaves = append(leaves, t.Make(c.ConfigMap, "leaf-of-"+m.GetName(), c.Blocking(m)))
	}
	t.Settle()
	journal := t.Watch(c.ConfigMap)
	t.Delete(root, c.Foreground)
	for i := range middle {
		t.InOrder(journal, leaves[i:i+1], middle[i:i+1], []*Object{root})
	}
}

func foregroundFan(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependents := fan(t, 60, c.Blocking(owner))
	t.Settle()
	journal := t.Watch(c.ConfigMap)
	t.Delete(owner, c.Foreground)
	t.InOrder(journal, dependents, []*Object{owner})
}

func foregroundKinds(t *T) { inForeground(t, c.Secret, c.ReplicaSet, by(c.Foreground)) }

func foregroundMiddle(t *T) { middleWaits(t, c.ConfigMap) }

func foregroundLone(t *T) {
	lone := t.Make(c.ConfigMap, "lone")
	t.Answered(t.Delete(lone, c.Foreground), lone, c.Terminating, c.HasFinalizers(waiting))
	t.Await(lone, c.Gone)
}

func foregroundOthers(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Settle()
	t.Answered(t.Delete(owner, c.Foreground), owner, c.Terminating, c.HasFinalizers(c.Hold, waiting))
	t.Await(dependent, c.Gone)
	t.Await(owner, c.Terminating, c.HasFinalizers(c.Hold))
	releaseLast(t, owner)
}

func foregroundFromBirth(t *T) {
	inForeground(t, c.ConfigMap, c.ConfigMap, by(), c.Finalized(waiting))
}

func foregroundTakenOff(t *T) {
	owner, _ := waitingFor(t)
	late := t.Make(c.ConfigMap, "late", c.NonBlocking(owner))
	t.Patch(owner, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	t.Expect(owner, c.Gone)
	t.Await(late, c.Gone)
}

func foregroundCreatedDuring(t *T) {
	owner, held := waitingFor(t)
	journal := t.Watch(c.ConfigMap)
	late := t.Make(c.ConfigMap, "late", c.Blocking(owner))
	t.Settle()
	t.Release(held)
	t.InOrder(journal, []*Object{held, late}, []*Object{owner})
}

// waitingFor creates an owner that waits for a dependent with a finalizer.
func waitingFor(t *T) (owner, held *Object) {
	owner = t.Make(c.ConfigMap, "owner")
	held = t.Make(c.ConfigMap, "held", c.Blocking(owner), c.Held)
	t.Settle()
	t.Delete(owner, c.Foreground)
	t.Await(held, c.Terminating)
	return t.Expect(owner, c.Terminating, c.HasFinalizers(waiting)), held
}

func foregroundUnblocked(t *T) {
	owner, held := waitingFor(t)
	t.SetOwners(held, c.NonBlocking(owner))
	t.Await(owner, c.Gone)
	t.Expect(held, c.Terminating)
}

func foregroundReferenceRemoved(t *T) {
	owner, held := waitingFor(t)
	t.SetOwners(held)
	t.Await(owner, c.Gone)
	t.Expect(held, c.Terminating, c.HasOwners())
}

func foregroundDependentFreed(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	both := []*Object{
		t.Make(c.ConfigMap, "one", c.Blocking(owner), c.Held), t.Make(c.ConfigMap, "two", c.Blocking(owner), c.Held),
	}
	t.Settle()
	t.Delete(owner, c.Foreground)
	t.AwaitAll(both, c.Terminating)
	for i, held := range slices.Backward(both) {
		t.Pass()
		t.Expect(owner, c.Terminating)
		t.Release(held)
		t.Expect(both[i], c.Gone)
	}
	t.Await(owner, c.Gone)
}
