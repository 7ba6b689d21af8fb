package cases

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	c "github.com/kubecascade/kubecascade/conformance"
)

func namespaces() []Case {
	return group("namespaces", spaces, c.Namespaces,
		prove("content", namespaceContent, "C-80 E-08 E-10 E-11",
			"A deleted namespace is returned as Terminating, and is removed with its content of any kind."),
		prove("held-content", namespaceHeld, "E-15 E-18 E-21",
			"An object with a finalizer keeps its namespace, whose conditions report it; no objects can be created "+
				"there, but existing ones can be updated."),
		prove("garbage-collection-finalizers", namespaceStripped, "E-11 J-34",
			"The finalizers orphan and foregroundDeletion on its content don't keep a namespace."),
		prove("owners-inside", namespaceFamily, "E-10 E-11",
			"Owners and their dependents are deleted with their namespace, also those whose default is to orphan."),
		prove("finalize", namespaceFinalize, "E-01 E-03 B-43",
			"A finalizer in a namespace's spec keeps the empty namespace until it is removed through the "+
				"subresource finalize."),
		prove("metadata-finalizer", namespaceMetadata, "E-01 E-22",
			"A finalizer in a namespace's metadata keeps the empty namespace."),
		prove("name-taken", namespaceRecreated, "E-20 E-25",
			"The name of a Terminating namespace is in use; a new namespace of that name is empty."),
		prove("second-delete", namespaceTwice, "C-81 E-24",
			"A second DELETE of a Terminating namespace changes nothing, and one of a namespace that is gone gets 404."),
		prove("immortal", namespaceImmortal, "B-74 E-05",
			"The namespaces default, kube-system and kube-public can't be deleted (tested by a dry run)."),
		prove("system", namespaceSystem, "E-06",
			"The API server itself creates the system namespaces: their field manager is kube-apiserver."),
		prove("pods-first", namespacePods, "E-09 E-28",
			"While a pod remains, nothing else in its namespace is deleted."),
		prove("foreground", namespaceForeground, "C-80 E-23",
			"A namespace deleted with Foreground has the finalizer foregroundDeletion until the collector removes "+
				"it, and is then removed.", c.Collector),
		prove("dependents-elsewhere", namespaceDependents, "D-70 D-48",
			"A namespace is a cluster-scoped owner: its dependents in other namespaces are deleted after it.", c.Collector),
	)
}

func namespaceSystem(t *T) {
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		a := t.Accepted(t.Send(http.MethodGet, c.Namespace.Path("", name), nil), http.StatusOK)
		var managers []string
		for _, e := range (&unstructured.Unstructured{Object: a.Body}).GetManagedFields() {
			managers = append(managers, e.Manager)
		}
		t.Check(slices.Contains(managers, "kube-apiserver"),
			"namespace "+name+" to have the field manager kube-apiserver", strings.Join(managers, ", "), a)
	}
}

func phase(o *Object) string {
	p, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return p
}

var terminatingPhase = c.Has("have the phase Terminating", func(o *Object) bool { return phase(o) == "Terminating" })

func namespaceContent(t *T) {
	ns := t.Namespace("full")
	var content []*Object
	for _, k := range []c.Kind{
		c.ConfigMap, c.Secret, c.ReplicationController, c.ReplicaSet, c.Job, c.CronJob, c.Autoscaler,
	} {
		content = append(content, t.Make(k, "content", c.In(ns)))
	}
	outside := t.Make(c.ConfigMap, "outside")
	t.Answered(t.Delete(ns), ns, c.Terminating, terminatingPhase)
	t.Await(ns, c.Gone)
	t.ExpectAll(content, c.Gone)
	t.Untouched(outside)
}

func namespaceHeld(t *T) {
	ns := t.Namespace("held")
	held, plain := t.Make(c.ConfigMap, "held", c.In(ns), c.Held), t.Make(c.ConfigMap, "plain", c.In(ns))
	t.Delete(ns)
	t.Await(held, c.Terminating, c.HasFinalizers(c.Hold))
	t.Await(plain, c.Gone)
	t.Await(ns, c.Terminating,
		c.Has("have the condition NamespaceContentRemaining that counts the config map", func(o *Object) bool {
			return c.ConditionStatus(o, "NamespaceContentRemaining") == "True" &&
				strings.Contains(c.ConditionMessage(o, "NamespaceContentRemaining"), "configmaps. has 1 resource instances")
		}),
		c.Has("have the condition NamespaceFinalizersRemaining that names the finalizer", func(o *Object) bool {
			return c.ConditionStatus(o, "NamespaceFinalizersRemaining") == "True" &&
				strings.Contains(c.ConditionMessage(o, "NamespaceFinalizersRemaining"), c.Hold+" in 1 resource instances")
		}))
	late := map[string]any{"metadata": map[string]any{"name": "late"}}
	t.Rejected(t.Send(http.MethodPost, c.ConfigMap.Path(ns.GetName(), ""), late), http.StatusForbidden,
		"unable to create new content in namespace "+ns.GetName()+" because it is being terminated")
	t.Patch(held, map[string]any{"data": map[string]any{"still": "writable"}})
	t.Release(held)
	t.Await(ns, c.Gone)
}

func namespaceStripped(t *T) {
	ns := t.Namespace("stripped")
	orphaning := t.Make(c.ConfigMap, "orphaning", c.In(ns), c.Finalized("orphan"))
	foreground := t.Make(c.ConfigMap, "foreground", c.In(ns), c.Finalized(waiting))
	t.Delete(ns)
	t.Await(ns, c.Gone)
	t.ExpectAll([]*Object{orphaning, foreground}, c.Gone)
}

func namespaceFamily(t *T) {
	ns := t.Namespace("family")
	rc := t.Make(c.ReplicationController, "owner", c.In(ns))
	job := t.Make(c.Job, "middle", c.In(ns), c.Blocking(rc))
	leaf := t.Make(c.ConfigMap, "leaf", c.In(ns), c.Blocking(job))
	t.Delete(ns)
	t.Await(ns, c.Gone)
	t.ExpectAll([]*Object{rc, job, leaf}, c.Gone)
}

func specFinalizers(o *Object) []any {
	f, _, _ := unstructured.NestedSlice(o.Object, "spec", "finalizers")
	return f
}

func namespaceFinalize(t *T) {
	t.Right("update", c.Namespace, "finalize")
	ns := t.Namespace("finalized", func(o *Object) {
		o.Object["spec"] = map[string]any{"finalizers": []any{c.Hold}}
	})
	content := t.Make(c.ConfigMap, "content", c.In(ns))
	t.Patch(ns, map[string]any{"spec": map[string]any{"finalizers": []any{}}})
	t.Delete(ns)
	now := t.Await(ns, c.Terminating, c.Has("have only the finalizer "+c.Hold+" in its spec", func(o *Object) bool {
		return len(specFinalizers(o)) == 1 && specFinalizers(o)[0] == c.Hold
	}))
	t.Expect(content, c.Gone)
	now.Object["spec"] = map[string]any{"finalizers": []any{}}
	t.Accepted(t.Send(http.MethodPut, ns.Path()+"/finalize", now.Object), http.StatusOK)
	t.Await(ns, c.Gone)
}

func namespaceMetadata(t *T) {
	ns := t.Namespace("held", c.Held)
	content := t.Make(c.ConfigMap, "content", c.In(ns))
	t.Delete(ns)
	t.Await(ns, c.Terminating, c.HasFinalizers(c.Hold), c.Has("have no finalizers in its spec", func(o *Object) bool {
		return len(specFinalizers(o)) == 0
	}))
	t.Expect(content, c.Gone)
	t.Release(ns)
	t.Await(ns, c.Gone)
}

func namespaceRecreated(t *T) {
	ns := t.Namespace("twice")
	held := t.Make(c.ConfigMap, "held", c.In(ns), c.Held)
	t.Delete(ns)
	again := map[string]any{"metadata": map[string]any{"name": ns.GetName()}}
	t.Rejected(t.Send(http.MethodPost, c.Namespace.Path("", ""), again), http.StatusConflict,
		`object is being deleted: namespaces "`+ns.GetName()+`" already exists`)
	t.Await(held, c.Terminating)
	t.Release(held)
	t.Await(ns, c.Gone)
	t.Namespace("twice")
	t.Expect(held, c.Gone)
}

func namespaceTwice(t *T) {
	ns := t.Namespace("twice")
	held := t.Make(c.ConfigMap, "held", c.In(ns), c.Held)
	t.Delete(ns)
	now := t.Await(ns, c.Terminating, c.Has("have conditions that count one config map with a finalizer", func(
		o *Object,
	) bool {
		return c.ConditionMessage(o, "NamespaceContentRemaining") ==
			"Some resources are remaining: configmaps. has 1 resource instances" &&
			c.ConditionStatus(o, "NamespaceFinalizersRemaining") == "True"
	}))
	t.Answered(t.Delete(ns), ns, c.Unchanged(now))
	t.Release(held)
	t.Await(ns, c.Gone)
	t.Rejected(t.TryDelete(ns), http.StatusNotFound, `namespaces "`+ns.GetName()+`" not found`)
}

func namespaceImmortal(t *T) {
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		t.Rejected(t.Send(http.MethodDelete, c.Namespace.Path("", name)+"?dryRun=All", nil), http.StatusForbidden,
			`namespaces "`+name+`" is forbidden: this namespace may not be deleted`)
	}
}

// makePod creates a pod that is never scheduled. If the cluster gives pods service accounts, the pod can be created
// only when the new namespace has its service account.
func makePod(t *T, ns *Object) *Object {
	var pod *Object
	t.Until("a pod to be accepted", func() (bool, string) {
		o, a := t.TryMake(c.Pod, "pod", c.In(ns), c.Held)
		pod = o
		if a.Code == http.StatusForbidden && strings.Contains(a.Message(), "serviceaccount") {
			return false, a.Message()
		}
		t.Accepted(a, http.StatusCreated)
		return true, ""
	})
	return pod
}

func namespacePods(t *T) {
	ns := t.Namespace("pods")
	pod, other := makePod(t, ns), t.Make(c.ConfigMap, "other", c.In(ns))
	t.Delete(ns)
	t.Await(pod, c.Terminating)
	// The namespace controller writes the conditions when it has processed all content once.
	t.Await(ns, c.Terminating, c.Has("have the conditions of a finished pass", func(o *Object) bool {
		return c.ConditionStatus(o, "NamespaceDeletionContentFailure") != ""
	}))
	t.Untouched(other)
	t.Release(pod)
	t.Await(ns, c.Gone)
	t.Expect(other, c.Gone)
}

func namespaceForeground(t *T) {
	ns := t.Namespace("foreground")
	content := t.Make(c.ConfigMap, "content", c.In(ns))
	t.Answered(t.Delete(ns, c.Foreground), ns, c.Terminating, c.HasFinalizers(waiting))
	t.Await(ns, c.Gone)
	t.Expect(content, c.Gone)
}

func namespaceDependents(t *T) {
	ns := t.Namespace("owner")
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(ns))
	t.Pass(c.ConfigMap)
	t.Untouched(dependent)
	t.Delete(ns)
	t.AwaitAll([]*Object{ns, dependent}, c.Gone)
}
