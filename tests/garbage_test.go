package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/tests/process"
)

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan
)

// TestGarbageCollector has the tests of the garbage collector in Kubernetes' own end-to-end suite (K
// test/e2e/apimachinery/garbage_collector.go, at v1.36.3). Each behaviour has the name that it has there, and the
// controllers that create dependents run. Where the suite waits for half a minute to see that nothing happens, this
// test waits until the collector has collected an object that was created later.
func TestGarbageCollector(t *testing.T) {
	s := process.Start(t, "--simulate-pods")
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: s.URL, QPS: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for i, behaviour := range []struct {
		name  string
		check func(*yard)
	}{
		{"should delete pods created by rc when not orphaning", (*yard).backgroundRC},
		{"should orphan pods created by rc if delete options say so", func(y *yard) { y.orphanRC(10, orphan) }},
		{"should orphan pods created by rc if deleteOptions.OrphanDependents is nil", func(y *yard) { y.orphanRC(2, "") }},
		{"should delete RS created by deployment when not orphaning", (*yard).backgroundDeployment},
		{"should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan", (*yard).orphanDeployment},
		{"should keep the rc around until all its pods are deleted if the deleteOptions says so", (*yard).foregroundRC},
		{
			"should not delete dependents that have both valid owner and owner that's waiting for dependents to be deleted",
			(*yard).twoOwners,
		},
		{"should not be blocked by dependency circle", (*yard).circle},
		{"should support cascading deletion of custom resources", (*yard).cascadeCustom},
		{"should support orphan deletion of custom resources", (*yard).orphanCustom},
		{"should delete jobs and pods created by cronjob", (*yard).cronJob},
	} {
		t.Run(behaviour.name, func(t *testing.T) {
			y := &yard{t: t, ctx: ctx, client: client, namespace: fmt.Sprintf("gc-%d", i)}
			y.create("namespaces", y.namespace, "")
			behaviour.check(y)
		})
	}
}

// yard is the namespace in which one behaviour is tested.
type yard struct {
	t         *testing.T
	ctx       context.Context
	client    dynamic.Interface
	namespace string
}

func (y *yard) ok(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// await reads until the condition is true.
func (y *yard) await(what string, so func() bool) {
	y.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-y.ctx.Done():
			y.t.Fatalf("waiting for %s", what)
		}
	}
}

// kinds are the kinds of resources; things are the custom resources of the yard's own group.
var kinds = map[string]schema.GroupVersionKind{
	"namespaces": {Version: "v1", Kind: "Namespace"}, "configmaps": {Version: "v1", Kind: "ConfigMap"},
	"pods": {Version: "v1", Kind: "Pod"}, "replicationcontrollers": {Version: "v1", Kind: "ReplicationController"},
	"deployments":               {Group: "apps", Version: "v1", Kind: "Deployment"},
	"replicasets":               {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	"jobs":                      {Group: "batch", Version: "v1", Kind: "Job"},
	"cronjobs":                  {Group: "batch", Version: "v1", Kind: "CronJob"},
	"things":                    {Version: "v1", Kind: "Thing"},
	"customresourcedefinitions": {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

func (y *yard) of(resource string) (dynamic.ResourceInterface, schema.GroupVersionKind) {
	gvk := kinds[resource]
	if resource == "things" {
		gvk.Group = y.namespace + ".example.org"
	}
	all := y.client.Resource(gvk.GroupVersion().WithResource(resource))
	if slices.Contains([]string{"namespaces", "things", "customresourcedefinitions"}, resource) {
		return all, gvk
	}
	return all.Namespace(y.namespace), gvk
}

// create creates an object with a spec in JSON, which may be empty, and owners.
func (y *yard) create(resource, name, spec string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	y.t.Helper()
	objects, gvk := y.of(resource)
	o := &unstructured.Unstructured{}
	y.ok(json.Unmarshal([]byte(`{"spec":`+cmp.Or(spec, "null")+`}`), &o.Object))
	o.SetGroupVersionKind(gvk)
	o.SetName(name)
	var refs []metav1.OwnerReference
	for _, owner := range owners {
		refs = append(refs, *metav1.NewControllerRef(owner, owner.GroupVersionKind()))
	}
	o.SetOwnerReferences(refs)
	o, err := objects.Create(y.ctx, o, metav1.CreateOptions{})
	y.ok(err)
	return o
}

// absent returns an owner that never existed.
func absent(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	o.SetName("absent")
	o.SetUID("absent")
	return o
}

func (y *yard) list(resource string) []unstructured.Unstructured {
	y.t.Helper()
	objects, _ := y.of(resource)
	list, err := objects.List(y.ctx, metav1.ListOptions{})
	y.ok(err)
	return list.Items
}

// none reports whether there are no objects of any of the resources.
func (y *yard) none(resources ...string) bool {
	y.t.Helper()
	return !slices.ContainsFunc(resources, func(r string) bool { return len(y.list(r)) > 0 })
}

// get returns an object, or nil if there is none.
func (y *yard) get(resource, name string) *unstructured.Unstructured {
	y.t.Helper()
	objects, _ := y.of(resource)
	o, err := objects.Get(y.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	y.ok(err)
	return o
}

func (y *yard) delete(resource string, o *unstructured.Unstructured, policy metav1.DeletionPropagation) {
	y.t.Helper()
	objects, _ := y.of(resource)
	y.ok(objects.Delete(y.ctx, o.GetName(), options(o.GetUID(), policy)))
}

// options returns the options for a deletion with the uid as a precondition.
func options(uid types.UID, policy metav1.DeletionPropagation) metav1.DeleteOptions {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if policy != "" {
		o.PropagationPolicy = &policy
	}
	return o
}

func (y *yard) patch(pod string, kind types.PatchType, patch string) {
	y.t.Helper()
	pods, _ := y.of("pods")
	_, err := pods.Patch(y.ctx, pod, kind, []byte(patch), metav1.PatchOptions{})
	y.ok(err)
}

// awaitEnd waits until an object is gone.
func (y *yard) awaitEnd(resource, name string) {
	y.t.Helper()
	y.await("the end of "+resource+"/"+name, func() bool { return y.get(resource, name) == nil })
}

// awaitCollector waits until the collector has processed all events until now: it has collected an object whose owner
// never existed.
func (y *yard) awaitCollector() {
	y.t.Helper()
	canary := y.create("configmaps", "canary", "", absent(y.create("configmaps", "owner", "")))
	y.awaitEnd("configmaps", canary.GetName())
}

// pod is the spec of a pod. labelled is a pod template with the label.
const pod = `{"containers":[{"name":"c","image":"i"}]}`

func labelled(app string) string {
	return `{"metadata":{"labels":{"app":"` + app + `"}},"spec":` + pod + `}`
}

// running creates the owner of pods and waits until the given number of them is ready.
func (y *yard) running(resource, name, selector string, replicas int64) *unstructured.Unstructured {
	y.t.Helper()
	o := y.create(resource, name,
		fmt.Sprintf(`{"replicas":%d,"selector":%s,"template":%s}`, replicas, selector, labelled(name)))
	y.await("the pods of "+name, func() bool {
		status, _ := y.get(resource, name).Object["status"].(map[string]any)
		ready, _ := status["readyReplicas"].(int64)
		observed, _ := status["observedGeneration"].(int64)
		return observed > 0 && ready == replicas
	})
	return o
}

func (y *yard) rc(name string, replicas int64) *unstructured.Unstructured {
	y.t.Helper()
	return y.running("replicationcontrollers", name, `{"app":"`+name+`"}`, replicas)
}

func (y *yard) deployment() *unstructured.Unstructured {
	y.t.Helper()
	return y.running("deployments", "d", `{"matchLabels":{"app":"d"}}`, 2)
}

// left requires that n pods remain that no client has deleted, each with the given number of owners.
func (y *yard) left(n, owners int) (pods []unstructured.Unstructured) {
	y.t.Helper()
	pods = y.list("pods")
	if len(pods) != n {
		y.t.Errorf("%d pods are left, not %d", len(pods), n)
	}
	for _, p := range pods {
		if p.GetDeletionTimestamp() != nil || len(p.GetOwnerReferences()) != owners {
			y.t.Errorf("%s: deletionTimestamp %v, owners %v", p.GetName(), p.GetDeletionTimestamp(), p.GetOwnerReferences())
		}
	}
	return pods
}

// backgroundRC tests D-S40.
func (y *yard) backgroundRC() {
	y.delete("replicationcontrollers", y.rc("rc", 2), background)
	y.await("the end of all", func() bool { return y.none("replicationcontrollers", "pods") })
}

// orphanRC tests D-S41 and D-S42: a ReplicationController's default is to orphan (C-20).
func (y *yard) orphanRC(replicas int64, policy metav1.DeletionPropagation) {
	y.delete("replicationcontrollers", y.rc("rc", replicas), policy)
	y.awaitEnd("replicationcontrollers", "rc")
	y.awaitCollector()
	y.left(int(replicas), 0)
}

// backgroundDeployment tests D-S43.
func (y *yard) backgroundDeployment() {
	y.delete("deployments", y.deployment(), background)
	y.await("the end of all", func() bool { return y.none("deployments", "replicasets", "pods") })
}

// orphanDeployment tests D-S44.
func (y *yard) orphanDeployment() {
	y.delete("deployments", y.deployment(), orphan)
	y.awaitEnd("deployments", "d")
	y.awaitCollector()
	sets := y.list("replicasets")
	if len(sets) != 1 || metav1.GetControllerOf(&sets[0]) != nil || sets[0].GetDeletionTimestamp() != nil {
		y.t.Errorf("the ReplicaSets that are left: %+v", sets)
	}
	y.left(2, 1)
}

// foregroundRC tests D-S45. A finalizer keeps one pod, so that the test can observe the waiting owner.
func (y *yard) foregroundRC() {
	rc := y.rc("rc", 10)
	held := y.list("pods")[0].GetName()
	y.patch(held, types.MergePatchType, `{"metadata":{"finalizers":["example.org/holds"]}}`)
	y.delete("replicationcontrollers", rc, foreground)
	y.await("the end of the other pods", func() bool { return len(y.list("pods")) == 1 })
	y.awaitCollector()
	now := y.get("replicationcontrollers", "rc")
	if now.GetDeletionTimestamp() == nil || strings.Join(now.GetFinalizers(), " ") != metav1.FinalizerDeleteDependents {
		y.t.Errorf("with a pod left: %v", now)
	}
	if p := y.get("pods", held); p.GetDeletionTimestamp() == nil {
		y.t.Errorf("the pod that is left: %v", p)
	}
	y.patch(held, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	y.awaitEnd("replicationcontrollers", "rc")
	y.left(0, 0)
}

// twoOwners tests D-S46.
func (y *yard) twoOwners() {
	leaving, staying := y.rc("leaving", 10), y.rc("staying", 0)
	for _, p := range y.list("pods")[:5] {
		y.patch(p.GetName(), types.StrategicMergePatchType, fmt.Sprintf(
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ReplicationController","name":"staying","uid":%q}]}}`,
			staying.GetUID()))
	}
	y.delete("replicationcontrollers", leaving, foreground)
	y.awaitEnd("replicationcontrollers", "leaving")
	y.awaitCollector()
	for _, p := range y.left(5, 1) {
		if p.GetOwnerReferences()[0].UID != staying.GetUID() {
			y.t.Errorf("%s is owned by %v", p.GetName(), p.GetOwnerReferences())
		}
	}
}

// circle tests D-S47.
func (y *yard) circle() {
	first := y.create("pods", "pod1", pod)
	third := y.create("pods", "pod3", pod, y.create("pods", "pod2", pod, first))
	y.patch("pod1", types.StrategicMergePatchType, fmt.Sprintf(`{"metadata":{"ownerReferences":[
		{"apiVersion":"v1","kind":"Pod","name":"pod3","uid":%q,"controller":true,"blockOwnerDeletion":true}]}}`, third.GetUID()))
	y.delete("pods", first, foreground)
	y.await("the end of the circle", func() bool { return y.none("pods") })
}

// custom defines things, which are cluster-scoped, and creates an owner with a dependent.
func (y *yard) custom() (owner *unstructured.Unstructured) {
	y.t.Helper()
	group := y.namespace + ".example.org"
	y.create("customresourcedefinitions", "things."+group, `{"group":"`+group+`","scope":"Cluster",
		"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}`)
	things, _ := y.of("things")
	y.await("the definition", func() bool {
		_, err := things.List(y.ctx, metav1.ListOptions{})
		return err == nil
	})
	owner = y.create("things", "owner", "")
	y.create("things", "dependent", "", owner)
	return owner
}

// cascadeCustom tests D-S48.
func (y *yard) cascadeCustom() {
	owner := y.custom()
	y.create("things", "canary", "", absent(owner))
	y.awaitEnd("things", "canary")
	y.delete("things", owner, background)
	y.await("the end of owner and dependent", func() bool { return y.none("things") })
}

// orphanCustom tests D-S49.
func (y *yard) orphanCustom() {
	y.delete("things", y.custom(), orphan)
	y.awaitEnd("things", "owner")
	y.awaitCollector()
	if d := y.get("things", "dependent"); d.GetDeletionTimestamp() != nil || len(d.GetOwnerReferences()) != 0 {
		y.t.Errorf("the dependent: %v", d)
	}
}

// cronJob tests D-S50, with a schedule that is due at once.
func (y *yard) cronJob() {
	c := y.create("cronjobs", "tick", `{"schedule":"@every 1s","jobTemplate":{"spec":{"template":{
		"metadata":{"annotations":{"kubecascade.io/simulate":"run"}},
		"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}}}`)
	y.await("a Job with a pod", func() bool { return len(y.list("jobs")) > 0 && len(y.list("pods")) > 0 })
	y.delete("cronjobs", c, background)
	y.await("the end of all", func() bool { return y.none("cronjobs", "jobs", "pods") })
}
