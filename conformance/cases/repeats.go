package cases

import (
	"net/http"

	"github.com/google/uuid"

	c "github.com/kubecascade/kubecascade/conformance"
)

func repeats() []Case {
	return group("repeats", collect+"#foreground-deletion", 0,
		prove("same-again", repeatSame, "C-42 C-44",
			"A second DELETE that changes nothing writes nothing."),
		prove("foreground-then-background", repeatForegroundBackground, "C-42 D-48",
			"Background after Foreground removes the finalizer: the owner is removed at once, the dependents when "+
				"their finalizers allow it.", c.Collector),
		prove("foreground-then-orphan", repeatForegroundOrphan, "C-42 D-60",
			"Orphan after Foreground replaces the finalizer, and the owner is removed without waiting for the "+
				"dependent that blocked it.", c.Collector),
		prove("background-then-foreground", repeatBackgroundForeground, "C-26 C-42 D-97",
			"Foreground after Background, on an owner that a finalizer keeps, deletes the dependents while the owner exists.",
			c.Collector),
		prove("background-then-orphan", repeatBackgroundOrphan, "C-26 C-42 D-60",
			"Orphan after Background, on an owner that a finalizer keeps, keeps the dependents.", c.Collector),
		prove("no-options-keep-policy", repeatNoOptions, "C-20 C-42",
			"A second DELETE without options keeps the policy of the first.", c.Collector),
		prove("foreground-again", repeatForegroundAgain, "C-43 D-S24",
			"A second Foreground, after the collector has removed the finalizer, adds it again, and the collector "+
				"removes it again.", c.Collector),
		prove("uid-precondition", repeatUID, "C-10",
			"A DELETE for another uid is rejected with a conflict, and nothing is deleted."),
		prove("version-precondition", repeatVersion, "C-11",
			"A DELETE for an older resourceVersion is rejected with a conflict, and one for the current one succeeds."),
		prove("of-the-gone", repeatGone, "C-64",
			"A DELETE of an object that is gone gets 404, with any preconditions."),
	)
}

func repeatSame(t *T) {
	held := t.Make(c.ConfigMap, "held", c.Held)
	now := t.Answered(t.Delete(held), held, c.Terminating)
	t.Answered(t.Delete(held), held, c.Unchanged(now))
	t.Answered(t.Delete(held, c.Background), held, c.Unchanged(now))
	t.Expect(held, c.Unchanged(now))
}

func repeatForegroundBackground(t *T) {
	owner, held := waitingFor(t)
	t.Answered(t.Delete(owner, c.Background), owner, c.Gone)
	t.Expect(owner, c.Gone)
	t.Expect(held, c.Terminating, c.HasFinalizers(c.Hold))
	releaseLast(t, held)
}

func repeatForegroundOrphan(t *T) {
	owner, held := waitingFor(t)
	t.Answered(t.Delete(owner, c.Orphan), owner, c.Terminating, c.HasFinalizers("orphan"))
	t.Await(owner, c.Gone)
	t.Expect(held, c.Terminating, c.HasFinalizers(c.Hold))
}

func repeatBackgroundForeground(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Delete(owner, c.Background)
	t.Pass()
	t.Untouched(dependent)
	t.Answered(t.Delete(owner, c.Foreground), owner, c.Terminating, c.HasFinalizers(c.Hold, waiting))
	t.Await(dependent, c.Gone)
	t.Await(owner, c.Terminating, c.HasFinalizers(c.Hold))
}

func repeatBackgroundOrphan(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Delete(owner, c.Background)
	t.Settle()
	t.Answered(t.Delete(owner, c.Orphan), owner, c.Terminating, c.HasFinalizers(c.Hold, "orphan"))
	t.Await(owner, c.Terminating, c.HasFinalizers(c.Hold))
	t.Release(owner)
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners())
}

func repeatNoOptions(t *T) {
	owner, held := waitingFor(t)
	t.Answered(t.Delete(owner), owner, c.Terminating, c.HasFinalizers(waiting), c.Unchanged(owner))
	t.Release(held)
	t.Await(owner, c.Gone)
}

func repeatForegroundAgain(t *T) {
	lone := t.Make(c.ConfigMap, "lone", c.Held)
	for range 2 {
		t.Answered(t.Delete(lone, c.Foreground), lone, c.Terminating, c.HasFinalizers(c.Hold, waiting))
		t.Await(lone, c.Terminating, c.HasFinalizers(c.Hold))
	}
	releaseLast(t, lone)
}

func repeatUID(t *T) {
	object := t.Make(c.ConfigMap, "object")
	t.Rejected(t.TryDelete(object, c.If("uid", uuid.NewString())), http.StatusConflict, "the UID in the precondition")
	t.Untouched(object)
	t.Answered(t.Delete(object, c.If("uid", string(object.GetUID()))), object, c.Gone)
}

func repeatVersion(t *T) {
	object := t.Make(c.ConfigMap, "object")
	now := t.Patch(object, map[string]any{"data": map[string]any{"a": "b"}})
	t.Rejected(t.TryDelete(object, c.If("resourceVersion", object.GetResourceVersion())), http.StatusConflict,
		"the ResourceVersion in the precondition ("+object.GetResourceVersion()+
			") does not match the ResourceVersion in record ("+now.GetResourceVersion()+")")
	t.Answered(t.Delete(object, c.If("resourceVersion", now.GetResourceVersion())), object, c.Gone)
}

func repeatGone(t *T) {
	object := t.Make(c.ConfigMap, "object")
	t.Delete(object)
	t.Rejected(t.TryDelete(object), http.StatusNotFound, `configmaps "object" not found`)
	t.Rejected(t.TryDelete(object, c.If("uid", uuid.NewString())), http.StatusNotFound, `configmaps "object" not found`)
}
