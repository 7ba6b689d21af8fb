package cases

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	c "github.com/kubecascade/kubecascade/conformance"
)

func collections() []Case {
	return group("collection", cascading, 0,
		prove("selected", collectionSelected, "C-70 C-74",
			"DELETE on a collection deletes what the labelSelector selects, and returns a list of the objects as "+
				"they were."),
		prove("held", collectionHeld, "C-78 C-40",
			"Of a collection, objects with finalizers stay with a deletionTimestamp, and the others are removed."),
		prove("background", collectionPolicy(c.Background, c.Gone), "C-78 D-48",
			"Background applies to each object of a collection: their dependents are deleted.", c.Collector),
		prove("foreground", collectionPolicy(c.Foreground, c.Gone), "C-78 D-43",
			"Foreground applies to each object of a collection: their dependents are deleted before them.", c.Collector),
		prove("orphan", collectionPolicy(c.Orphan, c.Alive), "C-78 D-60",
			"Orphan applies to each object of a collection: their dependents stay.", c.Collector),
		prove("default-of-jobs", collectionJobs, "C-24 C-78",
			"Without options each object of a collection is deleted by its kind's default: Jobs orphan, with a warning.",
			c.Collector),
		prove("owners-and-dependents", collectionFamily, "C-72 D-48",
			"A collection that holds owners and their dependents is emptied.", c.Collector),
	)
}

func collectionSelected(t *T) {
	var chosen, spared []*Object
	for i := range 3 {
		chosen = append(chosen, t.Make(c.ConfigMap, fmt.Sprintf("chosen-%d", i), c.Labelled("set", "chosen")))
		spared = append(spared, t.Make(c.ConfigMap, fmt.Sprintf("spared-%d", i), c.Labelled("set", "spared")))
	}
	answer := t.DeleteCollection(c.ConfigMap, "?labelSelector=set%3Dchosen", c.Background)
	items, _ := answer.Body["items"].([]any)
	var names []string
	for _, item := range items {
		o := unstructured.Unstructured{Object: item.(map[string]any)}
		names = append(names, o.GetName())
		t.Check(o.GetDeletionTimestamp() == nil, "items as they were before", answer.Text, answer)
	}
	t.Check(answer.Body["kind"] == "ConfigMapList" && slices.Equal(names, []string{"chosen-0", "chosen-1", "chosen-2"}),
		"a ConfigMapList of chosen-0, chosen-1, chosen-2", fmt.Sprint(answer.Body["kind"], names), answer)
	for i := range chosen {
		t.Expect(chosen[i], c.Gone)
		t.Untouched(spared[i])
	}
}

func collectionHeld(t *T) {
	plain := t.Make(c.ConfigMap, "plain", c.Labelled("set", "chosen"))
	held := t.Make(c.ConfigMap, "held", c.Labelled("set", "chosen"), c.Held)
	t.DeleteCollection(c.ConfigMap, "?labelSelector=set%3Dchosen")
	t.Expect(plain, c.Gone)
	t.Expect(held, c.Terminating, c.HasFinalizers(c.Hold))
	releaseLast(t, held)
}

// collectionPolicy returns a case that deletes owners as a collection and checks the state of their dependents.
func collectionPolicy(policy c.DeleteOption, fate c.Condition) func(*T) {
	return func(t *T) {
		var all, dependents []*Object
		for i := range 3 {
			owner := t.Make(c.ConfigMap, fmt.Sprintf("owner-%d", i), c.Labelled("set", "owners"))
			all = append(all, owner)
			dependents = append(dependents, t.Make(c.ConfigMap, fmt.Sprintf("dependent-%d", i), c.Blocking(owner)))
		}
		t.Settle()
		t.DeleteCollection(c.ConfigMap, "?labelSelector=set%3Downers", policy)
		t.AwaitAll(all, c.Gone)
		if fate.Gone {
			t.AwaitAll(dependents, fate)
			return
		}
		t.Pass()
		t.ExpectAll(dependents, fate, c.HasOwners())
	}
}

func collectionJobs(t *T) {
	job := t.Make(c.Job, "job")
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(job))
	t.Settle()
	expectPreserved(t, t.DeleteCollection(c.Job, ""))
	t.Await(job, c.Gone)
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners())
}

func collectionFamily(t *T) {
	root := t.Make(c.ConfigMap, "root", c.Labelled("set", "family"))
	middle := t.Make(c.ConfigMap, "middle", c.Labelled("set", "family"), c.Blocking(root))
	leaf := t.Make(c.ConfigMap, "leaf", c.Labelled("set", "family"), c.Blocking(middle))
	outside := t.Make(c.Secret, "outside", c.By(leaf))
	t.Settle()
	t.DeleteCollection(c.ConfigMap, "?labelSelector=set%3Dfamily", c.Foreground)
	t.AwaitAll([]*Object{leaf, middle, root, outside}, c.Gone)
}
