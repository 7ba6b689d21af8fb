package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/tests/process"
)

// TestGarbageCollector has what Kubernetes' own end-to-end suite says of its garbage collector
// (K test/e2e/apimachinery/garbage_collector.go, at v1.36.3), each behaviour by the name that it has there and
// with the controllers that make dependents. Where that waits for half a minute to see that nothing happens, this
// waits until the collector has come to something that happened later.
func TestGarbageCollector(t *testing.T) {
	s := process.Start(t, "--simulate-pods")
	config := &rest.Config{Host: s.URL, QPS: -1}
	api, objects := kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for i, behaviour := range []struct {
		name  string
		check func(*yard)
	}{
		{"should delete pods created by rc when not orphaning", (*yard).backgroundRC},
		{"should orphan pods created by rc if delete options say so", (*yard).orphanRC},
		{"should orphan pods created by rc if deleteOptions.OrphanDependents is nil", (*yard).defaultRC},
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
			y := &yard{t: t, ctx: ctx, api: api, objects: objects, namespace: fmt.Sprintf("gc-%d", i)}
			_, err := api.CoreV1().Namespaces().Create(
				ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: y.namespace}}, metav1.CreateOptions{},
			)
			y.ok(err)
			behaviour.check(y)
		})
	}
}

// yard is where one behaviour is looked at: a namespace of its own.
type yard struct {
	t         *testing.T
	ctx       context.Context
	api       kubernetes.Interface
	objects   dynamic.Interface
	namespace string
}

func (y *yard) ok(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// await asks again and again until it is so.
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

// gone reports whether there is nothing by what was asked for.
func (y *yard) gone(err error) bool {
	y.t.Helper()
	if apierrors.IsNotFound(err) {
		return true
	}
	y.ok(err)
	return false
}

// pass waits until the collector has come to what happens now: it has collected an object whose owner never
// was.
func (y *yard) pass() {
	y.t.Helper()
	maps := y.api.CoreV1().ConfigMaps(y.namespace)
	_, err := maps.Create(y.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "canary",
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "nobody"}}}}, metav1.CreateOptions{})
	y.ok(err)
	y.await("the end of the canary", func() bool {
		_, err := maps.Get(y.ctx, "canary", metav1.GetOptions{})
		return y.gone(err)
	})
}

// options ask for a policy, if it isn't empty, and are for the object of that uid only.
func options(uid types.UID, policy metav1.DeletionPropagation) metav1.DeleteOptions {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if policy != "" {
		o.PropagationPolicy = &policy
	}
	return o
}

func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

// pods are those of the namespace, sorted by name.
func (y *yard) pods() []corev1.Pod {
	y.t.Helper()
	list, err := y.api.CoreV1().Pods(y.namespace).List(y.ctx, metav1.ListOptions{})
	y.ok(err)
	return list.Items
}

// rc makes a ReplicationController and waits for its pods to run.
func (y *yard) rc(name string, replicas int32) *corev1.ReplicationController {
	y.t.Helper()
	pod := template(name)
	rcs := y.api.CoreV1().ReplicationControllers(y.namespace)
	rc, err := rcs.Create(y.ctx, &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: &replicas, Selector: pod.Labels, Template: &pod}}, metav1.CreateOptions{})
	y.ok(err)
	y.await("the pods of "+name, func() bool {
		now, err := rcs.Get(y.ctx, name, metav1.GetOptions{})
		y.ok(err)
		return now.Status.ObservedGeneration > 0 && now.Status.ReadyReplicas == replicas
	})
	return rc
}

// deleteRC deletes it and, unless it is held, waits for its end.
func (y *yard) deleteRC(rc *corev1.ReplicationController, policy metav1.DeletionPropagation) {
	y.t.Helper()
	y.ok(y.api.CoreV1().ReplicationControllers(y.namespace).Delete(y.ctx, rc.Name, options(rc.UID, policy)))
}

func (y *yard) rcGone(name string) bool {
	y.t.Helper()
	_, err := y.api.CoreV1().ReplicationControllers(y.namespace).Get(y.ctx, name, metav1.GetOptions{})
	return y.gone(err)
}

// left wants so many pods that nobody deletes, each with as many owners.
func (y *yard) left(pods, owners int) {
	y.t.Helper()
	list := y.pods()
	if len(list) != pods {
		y.t.Errorf("%d pods are left, not %d", len(list), pods)
	}
	for _, p := range list {
		if p.DeletionTimestamp != nil || len(p.OwnerReferences) != owners {
			y.t.Errorf("%s: deletionTimestamp %v, owners %v", p.Name, p.DeletionTimestamp, p.OwnerReferences)
		}
	}
}

// D-S40.
func (y *yard) backgroundRC() {
	y.deleteRC(y.rc("rc", 2), metav1.DeletePropagationBackground)
	y.await("the end of the pods", func() bool { return y.rcGone("rc") && len(y.pods()) == 0 })
}

// D-S41.
func (y *yard) orphanRC() {
	y.deleteRC(y.rc("rc", 10), metav1.DeletePropagationOrphan)
	y.await("the end of the ReplicationController", func() bool { return y.rcGone("rc") })
	y.pass()
	y.left(10, 0)
}

// D-S42: a ReplicationController's default is to orphan (C-20).
func (y *yard) defaultRC() {
	y.deleteRC(y.rc("rc", 2), "")
	y.await("the end of the ReplicationController", func() bool { return y.rcGone("rc") })
	y.pass()
	y.left(2, 0)
}

// deployment makes one and waits for its pods to be available.
func (y *yard) deployment(replicas int32) *appsv1.Deployment {
	y.t.Helper()
	pod := template("d")
	all := y.api.AppsV1().Deployments(y.namespace)
	d, err := all.Create(y.ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels},
		Template: pod}}, metav1.CreateOptions{})
	y.ok(err)
	y.await("the pods of the Deployment", func() bool {
		now, err := all.Get(y.ctx, "d", metav1.GetOptions{})
		y.ok(err)
		return now.Status.AvailableReplicas == replicas
	})
	return d
}

func (y *yard) sets() []appsv1.ReplicaSet {
	y.t.Helper()
	list, err := y.api.AppsV1().ReplicaSets(y.namespace).List(y.ctx, metav1.ListOptions{})
	y.ok(err)
	return list.Items
}

func (y *yard) deploymentGone() bool {
	y.t.Helper()
	_, err := y.api.AppsV1().Deployments(y.namespace).Get(y.ctx, "d", metav1.GetOptions{})
	return y.gone(err)
}

// D-S43.
func (y *yard) backgroundDeployment() {
	d := y.deployment(2)
	y.ok(y.api.AppsV1().Deployments(y.namespace).Delete(y.ctx, d.Name, options(d.UID, metav1.DeletePropagationBackground)))
	y.await("the end of all", func() bool { return y.deploymentGone() && len(y.sets())+len(y.pods()) == 0 })
}

// D-S44.
func (y *yard) orphanDeployment() {
	d := y.deployment(2)
	y.ok(y.api.AppsV1().Deployments(y.namespace).Delete(y.ctx, d.Name, options(d.UID, metav1.DeletePropagationOrphan)))
	y.await("the end of the Deployment", y.deploymentGone)
	y.pass()
	sets := y.sets()
	if len(sets) != 1 || metav1.GetControllerOf(&sets[0]) != nil || sets[0].DeletionTimestamp != nil {
		y.t.Errorf("the ReplicaSets that are left: %+v", sets)
	}
	y.left(2, 1)
}

// D-S45. One pod is held, so that the time between can be looked at.
func (y *yard) foregroundRC() {
	rc := y.rc("rc", 10)
	pods := y.api.CoreV1().Pods(y.namespace)
	held := y.pods()[0].Name
	patch := func(finalizers string) {
		y.t.Helper()
		_, err := pods.Patch(
			y.ctx, held, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{},
		)
		y.ok(err)
	}
	patch(`["example.org/holds"]`)
	y.deleteRC(rc, metav1.DeletePropagationForeground)
	y.await("the end of the other pods", func() bool { return len(y.pods()) == 1 })
	y.pass()
	now, err := y.api.CoreV1().ReplicationControllers(y.namespace).Get(y.ctx, rc.Name, metav1.GetOptions{})
	y.ok(err)
	if now.DeletionTimestamp == nil || strings.Join(now.Finalizers, " ") != metav1.FinalizerDeleteDependents {
		y.t.Errorf("with a pod left: deletionTimestamp %v, finalizers %v", now.DeletionTimestamp, now.Finalizers)
	}
	if list := y.pods(); len(list) != 1 || list[0].Name != held || list[0].DeletionTimestamp == nil {
		y.t.Errorf("the pods that are left: %v", list)
	}
	patch("null")
	y.await("the end of the ReplicationController", func() bool { return y.rcGone("rc") })
	y.left(0, 0)
}

// D-S46.
func (y *yard) twoOwners() {
	leaving, staying := y.rc("leaving", 10), y.rc("staying", 0)
	more := fmt.Sprintf(
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ReplicationController","name":%q,"uid":%q}]}}`,
		staying.Name, staying.UID,
	)
	for _, p := range y.pods()[:5] {
		_, err := y.api.CoreV1().Pods(y.namespace).Patch(
			y.ctx, p.Name, types.StrategicMergePatchType, []byte(more), metav1.PatchOptions{},
		)
		y.ok(err)
	}
	y.deleteRC(leaving, metav1.DeletePropagationForeground)
	y.await("the end of the ReplicationController", func() bool { return y.rcGone("leaving") })
	y.pass()
	y.left(5, 1)
	for _, p := range y.pods() {
		if p.OwnerReferences[0].UID != staying.UID {
			y.t.Errorf("%s is owned by %v", p.Name, p.OwnerReferences)
		}
	}
}

// D-S47.
func (y *yard) circle() {
	pods := y.api.CoreV1().Pods(y.namespace)
	made := map[string]*corev1.Pod{}
	for _, name := range []string{"pod1", "pod2", "pod3"} {
		p, err := pods.Create(
			y.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template("").Spec}, metav1.CreateOptions{},
		)
		y.ok(err)
		made[name] = p
	}
	for name, owner := range map[string]string{"pod1": "pod3", "pod2": "pod1", "pod3": "pod2"} {
		text := fmt.Sprintf(
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}]}}`,
			owner, made[owner].UID,
		)
		_, err := pods.Patch(y.ctx, name, types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{})
		y.ok(err)
	}
	y.ok(pods.Delete(y.ctx, "pod1", options(made["pod1"].UID, metav1.DeletePropagationForeground)))
	y.await("the end of the circle", func() bool { return len(y.pods()) == 0 })
}

// custom makes a cluster-scoped definition and returns its resource and a way to make objects.
func (y *yard) custom() (resource dynamic.ResourceInterface, object func(
	name string, owners ...*unstructured.Unstructured,
) *unstructured.Unstructured) {
	y.t.Helper()
	group := y.namespace + ".example.org"
	kind := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Thing"}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things." + group},
		"spec": map[string]any{"group": group, "scope": "Cluster",
			"names": map[string]any{"plural": "things", "kind": "Thing"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}}},
	}}
	definitions := y.objects.Resource(
		schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	)
	_, err := definitions.Create(y.ctx, definition, metav1.CreateOptions{})
	y.ok(err)
	things := y.objects.Resource(kind.GroupVersion().WithResource("things"))
	y.await("the definition", func() bool {
		_, err := things.List(y.ctx, metav1.ListOptions{})
		return !y.gone(err)
	})
	return things, func(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
		y.t.Helper()
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(kind)
		o.SetName(name)
		var refs []metav1.OwnerReference
		for _, owner := range owners {
			refs = append(refs, metav1.OwnerReference{
				APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: owner.GetName(), UID: owner.GetUID(),
			})
		}
		o.SetOwnerReferences(refs)
		o, err := things.Create(y.ctx, o, metav1.CreateOptions{})
		y.ok(err)
		return o
	}
}

// D-S48.
func (y *yard) cascadeCustom() {
	things, object := y.custom()
	owner := object("owner")
	object("dependent", owner)
	absent := owner.DeepCopy()
	absent.SetName("absent")
	absent.SetUID("absent")
	object("canary", absent)
	y.await("the end of the canary", func() bool {
		_, err := things.Get(y.ctx, "canary", metav1.GetOptions{})
		return y.gone(err)
	})
	y.ok(things.Delete(y.ctx, "owner", options(owner.GetUID(), metav1.DeletePropagationBackground)))
	y.await("the end of owner and dependent", func() bool {
		list, err := things.List(y.ctx, metav1.ListOptions{})
		y.ok(err)
		return len(list.Items) == 0
	})
}

// D-S49.
func (y *yard) orphanCustom() {
	things, object := y.custom()
	owner := object("owner")
	object("dependent", owner)
	y.ok(things.Delete(y.ctx, "owner", options(owner.GetUID(), metav1.DeletePropagationOrphan)))
	y.await("the end of the owner", func() bool {
		_, err := things.Get(y.ctx, "owner", metav1.GetOptions{})
		return y.gone(err)
	})
	y.pass()
	dependent, err := things.Get(y.ctx, "dependent", metav1.GetOptions{})
	y.ok(err)
	if dependent.GetDeletionTimestamp() != nil || len(dependent.GetOwnerReferences()) != 0 {
		y.t.Errorf(
			"the dependent: deletionTimestamp %v, owners %v", dependent.GetDeletionTimestamp(), dependent.GetOwnerReferences(),
		)
	}
}

// D-S50, with a schedule that is due at once.
func (y *yard) cronJob() {
	pod := template("tick")
	pod.Annotations = map[string]string{"kubecascade.io/simulate": "run"}
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	all := y.api.BatchV1().CronJobs(y.namespace)
	c, err := all.Create(y.ctx, &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "tick"}, Spec: batchv1.CronJobSpec{
		Schedule:    "@every 1s",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: pod}}}}, metav1.CreateOptions{})
	y.ok(err)
	jobs := func() int {
		list, err := y.api.BatchV1().Jobs(y.namespace).List(y.ctx, metav1.ListOptions{})
		y.ok(err)
		return len(list.Items)
	}
	y.await("a Job with a pod", func() bool { return jobs() > 0 && len(y.pods()) > 0 })
	y.ok(all.Delete(y.ctx, c.Name, options(c.UID, metav1.DeletePropagationBackground)))
	y.await("the end of all", func() bool {
		_, err := all.Get(y.ctx, c.Name, metav1.GetOptions{})
		return y.gone(err) && jobs()+len(y.pods()) == 0
	})
}
