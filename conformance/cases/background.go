package cases

import (
	"fmt"

	c "github.com/kubecascade/kubecascade/conformance"
)

func background() []Case {
	return group("background", collect+"#background-deletion", c.Collector,
		prove("dependents", backgroundDependents, "C-41 C-62 D-48",
			"An owner deleted with Background is gone when the response, a Status, arrives; its dependents "+
				"are deleted after it, whether they block or not, and nothing else is."),
		prove("is-the-default", backgroundDefault, "C-20 C-23 D-48",
			"A DELETE without options deletes the dependents of most kinds in the background."),
		prove("by-query", backgroundByQuery, "C-02",
			"A DELETE without a body takes its propagationPolicy from the query."),
		prove("body-wins", backgroundBodyWins, "C-02",
			"A DELETE with a body takes its options from there and ignores those in the query."),
		prove("mixed-chain", backgroundMixedChain, "D-48 D-41",
			"A cascade goes down through generations of different kinds; the collector's own deletions are in the background even for kinds whose default is to orphan."),
		prove("long-chain", backgroundLongChain, "D-48",
			"A cascade reaches the end of a chain of twelve generations."),
		prove("wide-fan", backgroundFan, "D-48",
			"All of an owner's sixty dependents are deleted, and no dependents of other owners."),
		prove("held-dependent", backgroundHeldDependent, "D-48 B-20",
			"A dependent with a finalizer is deleted but stays, with its reference, until the finalizer is removed."),
		prove("held-middle", backgroundHeldMiddle, "D-95 D-31 D-35",
			"An object in the middle of a cascade that is kept by a finalizer still owns its dependents: they stay "+
				"until it is removed."),
		prove("held-owner", backgroundHeldOwner, "D-35 J-42",
			"An owner that is being deleted in the background but is kept by a finalizer still owns its dependents until it is gone."),
		prove("created-after", backgroundCreatedAfter, "D-49",
			"A dependent created after its owner has gone is deleted."),
		prove("owner-never-was", backgroundNeverWas, "D-14 D-23 D-49",
			"A dependent of an owner that never existed is deleted."),
		prove("orphan-finalizer-below", backgroundOrphanBelow, "D-41 C-20",
			"A dependent that carries the orphan finalizer is deleted so that its own dependents are orphaned."),
		prove("foreground-finalizer-below", backgroundForegroundBelow, "D-41 C-20",
			"A dependent that carries the foregroundDeletion finalizer is deleted after its own dependents."),
	)
}

func backgroundDependents(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	free := t.Make(c.ConfigMap, "free")
	dependents := []*Object{
		t.Make(c.ConfigMap, "silent", c.By(owner)),
		t.Make(c.ConfigMap, "blocking", c.Blocking(owner)),
		t.Make(c.ConfigMap, "non-blocking", c.NonBlocking(owner)),
		t.Make(c.Secret, "secret", c.Blocking(owner)),
	}
	answer := t.Delete(owner, c.Background)
	t.Answered(answer, owner, c.Gone)
	details, _ := answer.Body["details"].(map[string]any)
	t.Check(answer.Body["status"] == "Success" && details["uid"] == string(owner.GetUID()),
		"a Status with status Success and the object's uid in its details", answer.Text, answer)
	t.Expect(owner, c.Gone)
	t.AwaitAll(dependents, c.Gone)
	t.Pass()
	t.Untouched(free)
}

func backgroundDefault(t *T) { inBackground(t, c.ConfigMap, by()) }

func backgroundByQuery(t *T) {
	inBackground(t, c.ReplicationController, byQuery("?propagationPolicy=Background", nil))
}

func backgroundBodyWins(t *T) {
	body := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
	inBackground(t, c.ConfigMap, byQuery("?propagationPolicy=Orphan", body))
}

func backgroundMixedChain(t *T) {
	root := t.Make(c.ConfigMap, "root")
	rc := t.Make(c.ReplicationController, "middle", c.By(root))
	secret := t.Make(c.Secret, "lower", c.By(rc))
	job := t.Make(c.Job, "lowest", c.Blocking(secret))
	leaf := t.Make(c.ConfigMap, "leaf", c.By(job))
	t.Delete(root, c.Background)
	t.AwaitAll([]*Object{rc, secret, job, leaf}, c.Gone)
}

func backgroundLongChain(t *T) {
	root := t.Make(c.ConfigMap, "generation-0")
	all, last := []*Object{}, root
	for i := range 12 {
		last = t.Make(c.ConfigMap, fmt.Sprintf("generation-%d", i+1), c.By(last))
		all = append(all, last)
	}
	t.Delete(root, c.Background)
	t.AwaitAll(all, c.Gone)
}

// fan creates n dependents.
func fan(t *T, n int, options ...c.Option) []*Object {
	var all []*Object
	for i := range n {
		all = append(all, t.Make(c.ConfigMap, fmt.Sprintf("dependent-%d", i), options...))
	}
	return all
}

func backgroundFan(t *T) {
	owner, other := t.Make(c.ConfigMap, "owner"), t.Make(c.ConfigMap, "other")
	spared := t.Make(c.ConfigMap, "spared", c.By(other))
	dependents := fan(t, 60, c.By(owner))
	t.Delete(owner, c.Background)
	t.AwaitAll(dependents, c.Gone)
	t.Pass()
	t.Untouched(spared)
}

func backgroundHeldDependent(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	dependent := t.Make(c.ConfigMap, "dependent", c.By(owner), c.Held)
	t.Delete(owner, c.Background)
	t.Await(dependent, c.Terminating, c.HasFinalizers(c.Hold), c.HasOwners(owner))
	releaseLast(t, dependent)
}

func backgroundHeldMiddle(t *T) {
	root := t.Make(c.ConfigMap, "root")
	middle := t.Make(c.ConfigMap, "middle", c.By(root), c.Held)
	leaf := t.Make(c.ConfigMap, "leaf", c.Blocking(middle))
	t.Delete(root, c.Background)
	t.Await(middle, c.Terminating, c.HasFinalizers(c.Hold))
	t.Pass()
	t.Untouched(leaf)
	t.Release(middle)
	t.Await(leaf, c.Gone)
}

func backgroundHeldOwner(t *T) {
	owner := t.Make(c.ConfigMap, "owner", c.Held)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Answered(t.Delete(owner, c.Background), owner, c.Terminating, c.HasFinalizers(c.Hold))
	late := t.Make(c.ConfigMap, "late", c.By(owner))
	t.Pass()
	t.Untouched(dependent, late)
	t.Release(owner)
	t.AwaitAll([]*Object{dependent, late}, c.Gone)
}

func backgroundCreatedAfter(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	t.Delete(owner, c.Background)
	t.Await(t.Make(c.ConfigMap, "late", c.Blocking(owner)), c.Gone)
}

func backgroundNeverWas(t *T) {
	t.Await(t.Make(c.ConfigMap, "dependent", c.Refs(c.Absent(c.Secret))), c.Gone)
	t.Await(t.Make(c.Secret, "dependent", c.Refs(c.Absent(c.ReplicaSet), c.Absent(c.ConfigMap))), c.Gone)
}

func backgroundOrphanBelow(t *T) {
	root := t.Make(c.ConfigMap, "root")
	middle := t.Make(c.ConfigMap, "middle", c.By(root), c.Finalized("orphan"))
	leaf := t.Make(c.ConfigMap, "leaf", c.Blocking(middle))
	t.Settle()
	t.Delete(root, c.Background)
	t.Await(middle, c.Gone)
	t.Pass()
	t.Expect(leaf, c.Alive, c.HasOwners())
}

func backgroundForegroundBelow(t *T) {
	root := t.Make(c.ConfigMap, "root")
	middle := t.Make(c.ConfigMap, "middle", c.By(root), c.Finalized("foregroundDeletion"))
	leaf := t.Make(c.ConfigMap, "leaf", c.Blocking(middle), c.Held)
	t.Settle()
	t.Delete(root, c.Background)
	t.Await(leaf, c.Terminating)
	t.Pass()
	t.Expect(middle, c.Terminating, c.HasFinalizers("foregroundDeletion"))
	t.Release(leaf)
	t.AwaitAll([]*Object{leaf, middle}, c.Gone)
}
