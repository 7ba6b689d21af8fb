package workloadtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Epoch is the time at which a World begins.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// World is a store. It implements workload.Reader.
type World struct {
	Now time.Time
	// Fail, if set, is called before each action; its error is the result.
	Fail func(workload.Action) error

	objects  map[string]workload.Object
	revision int
	made     map[string]int // how often a generateName or a name of a kind was used
}

// New returns an empty World.
func New() *World {
	return &World{Now: Epoch, objects: map[string]workload.Object{}, made: map[string]int{}}
}

func key(r workload.Resource, namespace, name string) string {
	return r.String() + "/" + namespace + "/" + name
}

func keyOf(o workload.Object) string { return key(workload.Of(o), o.GetNamespace(), o.GetName()) }

// Put creates or replaces an object, with a new resourceVersion, and returns it as it is stored; a new object gets a
// uid and a creationTimestamp.
func (w *World) Put(o workload.Object) workload.Object {
	o = o.DeepCopyObject().(workload.Object)
	o.GetObjectKind().SetGroupVersionKind(workload.Of(o).GroupVersionKind())
	if o.GetName() == "" {
		w.made[o.GetGenerateName()]++
		o.SetName(o.GetGenerateName() + strconv.Itoa(w.made[o.GetGenerateName()]))
	}
	if o.GetUID() == "" {
		if old := w.objects[keyOf(o)]; old != nil {
			o.SetUID(old.GetUID())
		} else {
			k := workload.Of(o).Kind + "/" + o.GetName()
			w.made[k]++
			o.SetUID(types.UID(fmt.Sprintf("%s-%s-%d", workload.Of(o).Kind, o.GetName(), w.made[k])))
		}
	}
	if at := o.GetCreationTimestamp(); at.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(w.Now))
	}
	o.SetGeneration(max(1, o.GetGeneration()))
	w.store(o)
	return o
}

func (w *World) store(o workload.Object) {
	w.revision++
	o.SetResourceVersion(strconv.Itoa(w.revision))
	w.objects[keyOf(o)] = o
}

// Remove deletes an object as a client would. An object with finalizers, or a pod on a node, gets a deletionTimestamp.
func (w *World) Remove(o workload.Object) {
	pod, ok := o.(*corev1.Pod)
	if len(o.GetFinalizers()) == 0 && (!ok || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil) {
		delete(w.objects, keyOf(o))
		return
	}
	o = o.DeepCopyObject().(workload.Object)
	o.SetDeletionTimestamp(new(metav1.NewTime(w.Now)))
	w.store(o)
}

// Get implements workload.Reader.
func (w *World) Get(r workload.Resource, namespace, name string) workload.Object {
	return w.objects[key(r, namespace, name)]
}

// Err implements workload.Reader.
func (w *World) Err(workload.Resource, string, string) error { return nil }

// All implements workload.Reader.
func (w *World) All(r workload.Resource, namespace string) (out []workload.Object) {
	for _, o := range w.objects {
		if workload.Of(o) == r && (namespace == "" || o.GetNamespace() == namespace) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b workload.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return out
}

// Controlled implements workload.Reader.
func (w *World) Controlled(r workload.Resource, owner types.UID) []workload.Object {
	return slices.DeleteFunc(w.All(r, ""), func(o workload.Object) bool {
		c := metav1.GetControllerOf(o)
		return c == nil || c.UID != owner
	})
}

// Free implements workload.Reader.
func (w *World) Free(r workload.Resource, namespace string) []workload.Object {
	return slices.DeleteFunc(w.All(r, namespace), func(o workload.Object) bool { return metav1.GetControllerOf(o) != nil })
}

// PodsMounting implements workload.Reader.
func (w *World) PodsMounting(claim workload.Key) (out []*corev1.Pod) {
	for _, p := range workload.All[*corev1.Pod](w, claim.Namespace) {
		if slices.Contains(workload.ClaimsOf(p), claim.Name) {
			out = append(out, p)
		}
	}
	return out
}

// Readable implements workload.Reader.
func (w *World) Readable(workload.Resource, string) bool { return true }

// do executes an action, and returns the name of its object.
func (w *World) do(a workload.Action) (name string, err error) {
	if w.Fail != nil {
		if err := w.Fail(a); err != nil {
			return "", err
		}
	}
	switch a := a.(type) {
	case workload.Create:
		return w.create(a.Object)
	case workload.Update:
		return a.Object.GetName(), w.update(a.Object, a.Status)
	case workload.ApplyStatus:
		return a.Object.GetName(), w.update(a.Object, true)
	case workload.Bind:
		pod := a.Pod.DeepCopy()
		pod.Spec.NodeName = a.Node
		workload.SetPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(w.Now)})
		w.store(pod)
		return pod.Name, nil
	case workload.Delete:
		old := w.objects[keyOf(a.Object)]
		if old != nil && old.GetUID() == a.Object.GetUID() {
			w.delete(old, a.Grace)
		}
		return a.Object.GetName(), nil
	}
	panic(fmt.Sprintf("%T is no action", a))
}

// delete executes a Delete. A pod with a grace period of 0 is removed without waiting for its node.
func (w *World) delete(o workload.Object, grace *int64) {
	pod, ok := o.(*corev1.Pod)
	if !ok || grace == nil || *grace != 0 {
		w.Remove(o)
		return
	}
	if had := pod.DeletionGracePeriodSeconds; had == nil || *had != 0 {
		pod = pod.DeepCopy()
		pod.DeletionGracePeriodSeconds = grace
		if pod.DeletionTimestamp == nil {
			pod.DeletionTimestamp = new(metav1.NewTime(w.Now))
		}
		w.store(pod)
	}
	if len(pod.Finalizers) == 0 {
		delete(w.objects, keyOf(pod))
	}
}

func gr(o workload.Object) schema.GroupResource {
	r := workload.Of(o)
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

func (w *World) create(o workload.Object) (string, error) {
	o = o.DeepCopyObject().(workload.Object)
	if o.GetName() != "" && w.objects[keyOf(o)] != nil {
		return "", apierrors.NewAlreadyExists(gr(o), o.GetName())
	}
	o.SetUID("")
	o.SetGeneration(0)
	o.SetCreationTimestamp(metav1.Time{})
	if pod, ok := o.(*corev1.Pod); ok && pod.Status.Phase == "" {
		pod.Status.Phase = corev1.PodPending
	}
	return w.Put(o).GetName(), nil
}

func (w *World) update(o workload.Object, status bool) error {
	old := w.objects[keyOf(o)]
	if old == nil || old.GetUID() != o.GetUID() {
		return apierrors.NewNotFound(gr(o), o.GetName())
	}
	if old.GetResourceVersion() != o.GetResourceVersion() {
		return apierrors.NewConflict(gr(o), o.GetName(), fmt.Errorf("its resourceVersion is %s", old.GetResourceVersion()))
	}
	next := old.DeepCopyObject().(workload.Object)
	from, to := fields(o), fields(next)
	if status {
		to.FieldByName("Status").Set(from.FieldByName("Status"))
		if workload.Of(o) == workload.Deployments { // B-41
			next.SetAnnotations(o.GetAnnotations())
		}
	} else {
		next = o.DeepCopyObject().(workload.Object)
		to = fields(next)
		if s := to.FieldByName("Status"); s.IsValid() {
			s.Set(fields(old.DeepCopyObject().(workload.Object)).FieldByName("Status"))
		}
		if changed(old, next) {
			next.SetGeneration(old.GetGeneration() + 1)
		}
	}
	w.store(next)
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && workload.Of(next) != workload.Pods {
		delete(w.objects, keyOf(next))
	}
	return nil
}
