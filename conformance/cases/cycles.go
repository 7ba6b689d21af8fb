package cases

import (
	"fmt"

	c "github.com/kubecascade/kubecascade/conformance"
)

func cycles() []Case {
	return group("cycles", owners, c.Collector,
		prove("pair-background", cyclePair(c.Background), "D-48",
			"Two objects that own each other are both removed when one is deleted in the background."),
		prove("pair-foreground", cyclePair(c.Foreground), "D-40 D-S47",
			"Two objects that own and block each other are both removed when one is deleted in the foreground."),
		prove("three-foreground", cycleThree, "D-40 D-53 D-S47",
			"A cycle of three that block each other is removed when one is deleted in the foreground."),
		prove("pair-orphan", cycleOrphan, "D-60",
			"Orphaning one of two that own each other leaves the other without owners."),
		prove("alive", cycleAlive, "D-34 D-39",
			"A cycle stays if no member is deleted."),
		prove("island", cycleIsland, "D-39 J-42",
			"A cycle stays when an owner outside it is deleted: each member still has a living owner."),
		prove("self", cycleSelf, "D-34 D-48",
			"An object that owns itself stays until it is deleted."),
		prove("self-foreground", cycleSelfForeground, "D-43",
			"An object that owns itself without blocking is removed when it is deleted in the foreground."),
	)
}

// ring creates n objects. Each is owned by the object before it and blocks it; the first object is owned by the last.
func ring(t *T, n int) []*Object {
	first := t.Make(c.ConfigMap, "ring-0")
	all := []*Object{first}
	for i := 1; i < n; i++ {
		all = append(all, t.Make(c.ConfigMap, fmt.Sprintf("ring-%d", i), c.Blocking(all[i-1])))
	}
	all[0] = t.SetOwners(first, c.Blocking(all[n-1]))
	t.Settle()
	return all
}

func cyclePair(policy c.DeleteOption) func(*T) {
	return func(t *T) {
		all := ring(t, 2)
		t.Delete(all[0], policy)
		t.AwaitAll(all, c.Gone)
	}
}

func cycleThree(t *T) {
	all := ring(t, 3)
	t.Delete(all[1], c.Foreground)
	t.AwaitAll(all, c.Gone)
}

func cycleOrphan(t *T) {
	all := ring(t, 2)
	t.Delete(all[0], c.Orphan)
	t.Await(all[0], c.Gone)
	t.Pass()
	t.Expect(all[1], c.Alive, c.HasOwners())
}

func cycleAlive(t *T) {
	all := ring(t, 3)
	t.Pass()
	t.Untouched(all...)
}

func cycleIsland(t *T) {
	root := t.Make(c.ConfigMap, "root")
	all := ring(t, 2)
	t.SetOwners(all[0], c.By(root), c.Blocking(all[1]))
	t.Delete(root)
	t.Await(all[0], c.Alive, c.HasOwners(all[1]))
	t.Pass()
	t.Expect(all[0], c.Alive, c.HasOwners(all[1]))
	t.Untouched(all[1])
}

func cycleSelf(t *T) {
	self := t.Make(c.ConfigMap, "self")
	self = t.SetOwners(self, c.By(self))
	t.Pass()
	t.Untouched(self)
	t.Answered(t.Delete(self), self, c.Gone)
}

func cycleSelfForeground(t *T) {
	self := t.Make(c.ConfigMap, "self")
	t.SetOwners(self, c.NonBlocking(self))
	t.Settle()
	t.Delete(self, c.Foreground)
	t.Await(self, c.Gone)
}
