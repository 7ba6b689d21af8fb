package cases

import (
	"net/http"
	"strings"

	c "github.com/kubecascade/kubecascade/conformance"
)

func custom() []Case {
	all := group("custom", customs, c.Collector|c.Custom|c.Cluster,
		prove("background", customBackground, "D-48 D-S35",
			"Custom resources own and are owned, by each other and by built-in kinds: in the background all are "+
				"deleted after their owner."),
		prove("foreground", customForeground, "D-43 D-S30 D-S31",
			"A custom resource waits for the dependents that block it, and blocks its owner."),
		prove("orphan", customOrphan, "D-52 D-60 D-S49",
			"Custom resources are orphaned, and orphan."),
		prove("several-owners", customSeveral, "D-39 D-52",
			"A custom resource loses the reference to the owner that was deleted."),
		prove("wrong-owner", customWrong, "D-35 D-71 D-76",
			"A custom resource whose owner doesn't exist, or is in another namespace, is deleted."),
		prove("cluster-scoped", customCluster, "D-70 D-S48",
			"Cluster-scoped custom resources own objects in namespaces and outside."),
		prove("collection", customCollection, "C-70 C-78 D-48",
			"DELETE on a collection of custom resources also deletes their dependents."),
		prove("definition-deleted", customDefinition, "C-84 D-S32",
			"Deleting the CRD deletes its objects, and their dependents after them."),
		prove("definition-recreated", customRecreated, "D-S32 D-S35",
			"After a CRD is recreated, the collector handles its objects again."),
	)
	return append(all, group("custom", customs, c.Custom|c.Cluster,
		prove("version-removed", customVersionRemoved, "B-63",
			"Apply fails while managedFields name a version that the CRD no longer has; other writes succeed."),
		prove("finalizers", customFinalizers, "C-40 C-41 C-62 B-20",
			"A custom resource is deleted like any object: at once with a Status, or when its last finalizer is "+
				"removed."),
		prove("namespace", customNamespace, "E-10 E-21",
			"Custom resources are deleted with their namespace, and keep it if they have a finalizer.", c.Namespaces),
	)...)
}

// widget defines a namespaced custom resource that the collector watches.
func widget(t *T) c.Kind {
	k, _ := t.Define("Widget", false)
	t.Settle(k)
	return k
}

func customVersionRemoved(t *T) {
	v1, d := t.Define("Widget", false)
	serve := func(names ...string) {
		var versions []any
		for _, name := range names {
			versions = append(versions, map[string]any{"name": name, "served": true, "storage": name == names[len(names)-1],
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
		}
		t.Patch(d, map[string]any{"spec": map[string]any{"versions": versions}})
	}
	label := func(value string) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": value}}}
	}
	w := t.Make(v1, "w", c.Labelled("version", "v1"))
	w.Of.Version = "v2"
	serve("v1", "v2")
	t.Until("v2 to be served and stored", func() (bool, string) {
		a := t.TryPatch(w, label("stored"))
		return a.Code == http.StatusOK, a.Message()
	})
	t.Accepted(t.TryPatchStatus(d, map[string]any{"storedVersions": []string{"v2"}}), http.StatusOK)
	serve("v2")
	t.Until("apply to fail", func() (bool, string) {
		a := t.TryApply(w, label("applied"))
		return a.Code == http.StatusInternalServerError &&
			strings.Contains(a.Message(), "request to convert CR to an invalid group/version: "+v1.APIVersion()), a.Message()
	})
	t.Patch(w, label("patched"))
}

func customBackground(t *T) {
	k := widget(t)
	root := t.Make(k, "root")
	all := []*Object{t.Make(k, "custom", c.Blocking(root)), t.Make(c.ConfigMap, "built-in", c.By(root))}
	all = append(all, t.Make(k, "of-built-in", c.By(all[1])), t.Make(c.Secret, "of-custom", c.By(all[0])))
	t.Delete(root, c.Background)
	t.AwaitAll(all, c.Gone)
}

func customForeground(t *T) { middleWaits(t, widget(t)) }

func customOrphan(t *T) {
	k := widget(t)
	owner := t.Make(k, "owner")
	dependents := []*Object{t.Make(k, "custom", c.Blocking(owner)), t.Make(c.ConfigMap, "built-in", c.By(owner))}
	orphanAll(t, owner, dependents, k, c.ConfigMap)
}

func customSeveral(t *T) {
	k := widget(t)
	leaving, staying := t.Make(k, "leaving"), t.Make(c.ConfigMap, "staying")
	dependent := t.Make(k, "dependent", c.By(leaving), c.Blocking(staying), c.Refs(c.Absent(k)))
	t.Await(dependent, c.Alive, c.HasOwners(leaving, staying))
	goesWithLast(t, leaving, staying, dependent)
}

func customWrong(t *T) {
	k := widget(t)
	elsewhere := t.Namespace("elsewhere")
	far, near := t.Make(k, "far", c.In(elsewhere)), t.Make(k, "near")
	t.AwaitAll([]*Object{
		t.Make(k, "wrong-namespace", c.By(far)),
		t.Make(k, "wrong-uid", c.By(near, otherUID)),
		t.Make(k, "wrong-name", c.By(near, otherName)),
		t.Make(c.ConfigMap, "wrong-kind", c.By(near, otherKind)),
	}, c.Gone)
	t.Untouched(far, near)
}

func customCluster(t *T) {
	k, _ := t.Define("Globe", true)
	// The owner of a sentinel of this kind is of a cluster-scoped kind.
	t.Settle(k)
	owner := t.Make(k, "owner")
	dependents := []*Object{t.Make(k, "outside", c.Blocking(owner)), t.Make(c.ConfigMap, "inside", c.By(owner))}
	t.Pass(k, c.ConfigMap)
	t.Untouched(dependents[1])
	t.Delete(owner)
	t.AwaitAll(dependents, c.Gone)
}

func customFinalizers(t *T) {
	k, _ := t.Define("Widget", false)
	plain, held := t.Make(k, "plain"), t.Make(k, "held", c.Held)
	t.Answered(t.Delete(plain), plain, c.Gone)
	t.Answered(t.Delete(held), held, c.Terminating, c.HasFinalizers(c.Hold))
	t.Rejected(t.TryPatch(
		held, map[string]any{"metadata": map[string]any{"finalizers": []string{c.Hold, "conformance.example.com/more"}}},
	),
		http.StatusUnprocessableEntity, "no new finalizers can be added if the object is being deleted")
	releaseLast(t, held)
}

func customCollection(t *T) {
	k := widget(t)
	owner := t.Make(k, "owner", c.Labelled("set", "owners"))
	dependent := t.Make(k, "dependent", c.By(owner))
	t.DeleteCollection(k, "?labelSelector=set%3Downers", c.Background)
	t.Expect(owner, c.Gone)
	t.Await(dependent, c.Gone)
}

func customDefinition(t *T) {
	k, definition := t.Define("Widget", false)
	t.Settle(k)
	owner := t.Make(k, "owner")
	dependent := t.Make(c.ConfigMap, "of-"+string(owner.GetUID())[:8], c.By(owner))
	t.Settle(k, c.ConfigMap)
	t.Delete(definition)
	t.AwaitAll([]*Object{definition, dependent}, c.Gone)
}

func customRecreated(t *T) {
	for range 2 {
		customDefinition(t)
	}
}

func customNamespace(t *T) {
	k, _ := t.Define("Widget", false)
	ns := t.Namespace("content")
	plain, held := t.Make(k, "plain", c.In(ns)), t.Make(k, "held", c.In(ns), c.Held)
	t.Delete(ns)
	t.Await(held, c.Terminating)
	t.Await(plain, c.Gone)
	t.Expect(ns, c.Terminating)
	t.Release(held)
	t.Await(ns, c.Gone)
}
