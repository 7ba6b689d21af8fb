package cases

import (
	c "github.com/kubecascade/kubecascade/conformance"
)

func severalOwners() []Case {
	return group("owners", owners, c.Collector,
		prove("one-of-two-goes", ownersOneOfTwo, "D-39 D-S21",
			"A dependent of two owners stays when one is deleted in the background, and loses the reference to it."),
		prove("both-go", ownersBoth, "D-41 D-48",
			"A dependent of two owners is deleted with the last of them."),
		prove("absent-beside-living", ownersAbsentBeside, "D-39",
			"References to owners that don't exist are removed from a dependent that also has a living owner."),
		prove("foreground-beside-living", ownersForegroundBeside, "D-39 D-S22c",
			"A dependent with another living owner doesn't block a foreground deletion: it stays and loses the reference."),
		prove("all-waiting", ownersAllWaiting, "D-40 D-41",
			"A dependent all of whose owners wait in a foreground deletion is deleted."),
		prove("added-while-owner-dies", ownersAdded, "D-35 D-39",
			"An owner that is added while the first is being deleted keeps the dependent."),
		prove("replaced-while-owner-dies", ownersReplaced, "D-35 D-39",
			"A dependent whose owner is replaced while it is being deleted stays with the new one."),
		prove("removed-before", ownersRemoved, "D-34 D-48",
			"An object whose reference was removed isn't a dependent any more."),
		prove("removed-while-cascade-runs", ownersRemovedDuring, "D-18 C-90",
			"Removing the reference, or adding a living owner, doesn't keep a dependent that is already terminating."),
		prove("absent-added", ownersAbsentAdded, "D-14 D-49",
			"An object without owners is deleted when it is given one that doesn't exist."),
		prove("renamed-in-place", ownersRenamed, "D-19 J-15",
			"A reference whose name changes, while the uid stays, doesn't delete the object at once."),
		prove("recreated", ownersRecreated, "D-76",
			"An owner recreated under its name isn't the owner of the old one's dependents: identity is the uid."),
		prove("shared-by-generations", ownersGenerations, "D-39 D-48",
			"A dependent of both a parent and a grandparent is deleted only when both are gone."),
	)
}

func ownersOneOfTwo(t *T) {
	leaving, staying := t.Make(c.ConfigMap, "leaving"), t.Make(c.Secret, "staying")
	dependents := []*Object{
		t.Make(c.ConfigMap, "leaving-first", c.Blocking(leaving), c.Blocking(staying)),
		t.Make(c.ConfigMap, "staying-first", c.By(staying), c.By(leaving)),
	}
	t.Delete(leaving, c.Background)
	t.AwaitAll(dependents, c.Alive, c.HasOwners(staying))
	t.Pass()
	t.ExpectAll(dependents, c.Alive, c.HasOwners(staying))
}

func ownersBoth(t *T) {
	one, two := t.Make(c.ConfigMap, "one"), t.Make(c.Secret, "two")
	dependent := t.Make(c.ConfigMap, "dependent", c.By(one), c.Blocking(two))
	goesWithLast(t, one, two, dependent)
}

func ownersAbsentBeside(t *T) {
	living := t.Make(c.ConfigMap, "living")
	dependent := t.Make(c.ConfigMap, "dependent", c.Refs(c.Absent(c.ConfigMap)), c.By(living), c.Refs(c.Absent(c.Secret)))
	t.Await(dependent, c.Alive, c.HasOwners(living))
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners(living))
}

func ownersForegroundBeside(t *T) {
	leaving, staying := t.Make(c.ConfigMap, "leaving"), t.Make(c.ConfigMap, "staying")
	shared := t.Make(c.ConfigMap, "shared", c.Blocking(leaving), c.Blocking(staying))
	t.Settle()
	t.Delete(leaving, c.Foreground)
	t.Await(leaving, c.Gone)
	t.Pass()
	t.Expect(shared, c.Alive, c.HasOwners(staying))
}

func ownersAllWaiting(t *T) {
	one, two := t.Make(c.ConfigMap, "one"), t.Make(c.ConfigMap, "two")
	held := []*Object{
		t.Make(c.ConfigMap, "held-of-one", c.Blocking(one), c.Held),
		t.Make(c.ConfigMap, "held-of-two", c.Blocking(two), c.Held),
	}
	t.Settle()
	t.Delete(one, c.Foreground)
	t.Await(held[0], c.Terminating)
	shared := t.Make(c.ConfigMap, "shared", c.Blocking(one), c.Blocking(two))
	t.Settle()
	t.Delete(two, c.Foreground)
	t.Await(shared, c.Gone)
	t.Await(held[1], c.Terminating)
	for _, h := range held {
		t.Release(h)
	}
	t.AwaitAll([]*Object{one, two}, c.Gone)
}

// dying creates an owner with a dependent, and another owner. The first owner is being deleted in the background, and a
// finalizer blocks its removal.
func dying(t *T) (owner, dependent, other *Object) {
	owner, other = t.Make(c.ConfigMap, "dying", c.Held), t.Make(c.ConfigMap, "other")
	dependent = t.Make(c.ConfigMap, "dependent", c.By(owner))
	t.Delete(owner, c.Background)
	return owner, dependent, other
}

func ownersAdded(t *T) {
	owner, dependent, other := dying(t)
	t.SetOwners(dependent, c.By(owner), c.By(other))
	releaseLast(t, owner)
	t.Await(dependent, c.Alive, c.HasOwners(other))
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners(other))
}

func ownersReplaced(t *T) {
	owner, dependent, other := dying(t)
	dependent = t.SetOwners(dependent, c.Blocking(other))
	releaseLast(t, owner)
	t.Pass()
	goesWith(t, other, dependent)
}

func ownersRemoved(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	free := t.Make(c.ConfigMap, "free", c.Blocking(owner))
	dependent := t.Make(c.ConfigMap, "dependent", c.By(owner))
	free = t.SetOwners(free)
	t.Delete(owner)
	t.Await(dependent, c.Gone)
	t.Pass()
	t.Untouched(free)
}

func ownersRemovedDuring(t *T) {
	owner, living := t.Make(c.ConfigMap, "owner"), t.Make(c.ConfigMap, "living")
	freed := t.Make(c.ConfigMap, "freed", c.By(owner), c.Held)
	adopted := t.Make(c.ConfigMap, "adopted", c.By(owner), c.Held)
	t.Delete(owner)
	t.AwaitAll([]*Object{freed, adopted}, c.Terminating)
	t.SetOwners(freed)
	t.SetOwners(adopted, c.By(living))
	for _, o := range []*Object{freed, adopted} {
		t.Expect(o, c.Terminating)
		releaseLast(t, o)
	}
}

func ownersAbsentAdded(t *T) {
	free := t.Make(c.ConfigMap, "free")
	t.Pass()
	t.Untouched(free)
	t.SetOwners(free, c.Refs(c.Absent(c.ConfigMap)))
	t.Await(free, c.Gone)
}

func ownersRenamed(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Pass()
	renamed := c.Ref(owner)
	renamed.Name = "renamed"
	dependent = t.SetOwners(dependent, c.Refs(renamed))
	t.Pass()
	t.Untouched(dependent)
	dependent = t.SetOwners(dependent, c.By(owner))
	t.Pass()
	goesWith(t, owner, dependent)
}

func ownersRecreated(t *T) {
	first := t.Make(c.ConfigMap, "owner")
	old := t.Make(c.ConfigMap, "of-the-old", c.By(first))
	t.Delete(first)
	second := t.Make(c.ConfigMap, "owner")
	young := t.Make(c.ConfigMap, "of-the-new", c.By(second))
	t.Await(old, c.Gone)
	t.Pass()
	goesWith(t, second, young)
}

func ownersGenerations(t *T) {
	grandparent := t.Make(c.ConfigMap, "grandparent")
	parent := t.Make(c.ConfigMap, "parent", c.By(grandparent))
	child := t.Make(c.ConfigMap, "child", c.By(grandparent), c.By(parent))
	goesWithLast(t, parent, grandparent, child)
}
