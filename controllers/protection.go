package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// protection prevents the deletion of storage objects that are in use (docs/semantics.md F-02 to F-08) by a finalizer,
// which the API server's admission adds when an object is created (F-01). The controller adds a missing finalizer, and
// removes it from an object that is being deleted and not in use. Other finalizers are kept, in their order (F-22).
type protection struct {
	name, finalizer string
	protects        workload.Resource
	// users has the resources whose objects may use protected ones; none if an object's own state shows whether it is
	// in use. wake returns the keys of objects that may have lost a user by a change of a user.
	users []workload.Resource
	wake  func(workload.Reader, workload.Change) []workload.Key
	// used reports whether the object of the view is in use. Users are read in a state in which the object is already
	// being deleted, so no earlier user is missed (F-06).
	used func(workload.View) bool
}

// volumeProtection protects PersistentVolumes while their phase, which the binder sets, is Bound (F-03).
func volumeProtection() workload.Controller {
	return protection{
		name: "pv-protection", finalizer: "kubernetes.io/pv-protection", protects: workload.Volumes,
		used: func(v workload.View) bool {
			return v.Object.(*corev1.PersistentVolume).Status.Phase == corev1.VolumeBound
		},
	}.controller()
}

// claimProtection protects PersistentVolumeClaims that pods on nodes mount (F-04).
func claimProtection() workload.Controller {
	return protection{
		name: "pvc-protection", finalizer: "kubernetes.io/pvc-protection", protects: workload.Claims,
		users: []workload.Resource{workload.Pods}, wake: unmounted, used: mounted,
	}.controller()
}

// classProtection protects VolumeAttributesClasses that claims and volumes have, had or request (F-08). Unlike
// upstream's, it does not depend on a delayed event of a user.
func classProtection() workload.Controller {
	return protection{
		name: "vac-protection", finalizer: "kubernetes.io/vac-protection", protects: workload.AttributesClasses,
		users: []workload.Resource{workload.Claims, workload.Volumes}, wake: everyClass, used: classUsed,
	}.controller()
}

func (p protection) controller() workload.Controller {
	return workload.Controller{
		Name: p.name, For: p.protects, Quiet: true, Sees: p.users, Decide: p.decide,
		Task: "update the protection finalizer of a storage object",
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			if c.Resource != p.protects {
				return slices.DeleteFunc(p.wake(r, c), func(k workload.Key) bool {
					o := r.Get(p.protects, k.Namespace, k.Name)
					return o == nil || !p.pending(o.GetFinalizers(), dying(o))
				})
			}
			if c.New != nil && p.pending(c.New.Finalizers, c.New.Deleting) {
				return []workload.Key{c.New.Key}
			}
			return nil
		},
	}
}

// pending reports whether an object needs a write now or, while it is in use, later.
func (p protection) pending(finalizers []string, dying bool) bool {
	return slices.Contains(finalizers, p.finalizer) == dying
}

func (p protection) decide(v workload.View, _ time.Time) workload.Plan {
	o := v.Object
	if o == nil || !p.pending(o.GetFinalizers(), dying(o)) {
		return workload.Plan{}
	}
	o = o.DeepCopyObject().(workload.Object)
	if !dying(o) { // F-02
		o.SetFinalizers(append(o.GetFinalizers(), p.finalizer))
		return workload.Plan{Do: []workload.Action{workload.Update{Object: o}}}
	}
	for _, r := range p.users {
		if !v.Readable(r, o.GetNamespace()) {
			return workload.Plan{Err: fmt.Errorf("it may be in use: an object of %v can't be decoded", r)}
		}
	}
	if p.used(v) {
		return workload.Plan{}
	}
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == p.finalizer }))
	return workload.Plan{Do: []workload.Action{workload.Update{Object: o}}}
}

func dying(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }

// mounted reports whether a pod on a node mounts the claim. Without a node it mounts nothing, and no node will start it
// with a claim that is being deleted (F-07). A finished pod counts while it exists (F-04).
func mounted(v workload.View) bool {
	return slices.ContainsFunc(v.PodsMounting(v.Key), func(p *corev1.Pod) bool {
		named, owned := mounts(p, v.Object)
		return p.Spec.NodeName != "" && (named || owned && !shutDown(p)) // F-05
	})
}

// mounts reports whether a pod's volumes name a claim, or one is a generic ephemeral volume and the pod controls its
// claim. Another claim with that name isn't mounted.
func mounts(p *corev1.Pod, claim workload.Object) (named, owned bool) {
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if workload.ClaimOf(p, v) != claim.GetName() {
			continue
		}
		owner := metav1.GetControllerOfNoCopy(claim)
		named = named || v.PersistentVolumeClaim != nil
		owned = owned || v.Ephemeral != nil && owner != nil && owner.UID == p.UID
	}
	return named, owned
}

// shutDown reports whether the pod's node has stopped it, or it was deleted by force. Its finalizers may wait for the
// same claims that wait for the pod (F-05).
func shutDown(p *corev1.Pod) bool {
	return dying(p) && ptr.Deref(p.DeletionGracePeriodSeconds, 1) == 0
}

// unmounted returns the claims of a pod that was deleted, or may have been shut down, or could not be decoded before.
func unmounted(r workload.Reader, c workload.Change) []workload.Key {
	if c.Old == nil {
		return nil
	}
	if c.New != nil && !c.New.Deleting {
		if _, err := c.Old.Claims(); err == nil {
			return nil
		}
	}
	return claimsOf(r, c)
}

// claimsOf returns the claims that the pod of a change mounts or mounted. If the pod could not be decoded before, it
// returns all claims of the namespace. As long as a pod can't be decoded, the claims that it may mount stay protected.
func claimsOf(r workload.Reader, c workload.Change) (keys []workload.Key) {
	var names []string
	namespace := cmp.Or(c.Old, c.New).Namespace
	if c.Old != nil {
		old, err := c.Old.Claims()
		if err != nil {
			return workload.KeysOf(r.All(workload.Claims, namespace), func(workload.Object) bool { return true })
		}
		names = old
	}
	if c.New != nil {
		more, _ := c.New.Claims() // of a pod that can't be decoded none is known
		names = append(names, more...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		keys = append(keys, workload.Key{Namespace: namespace, Name: name})
	}
	return keys
}

// everyClass returns all classes after a change of a claim or volume that existed before.
func everyClass(r workload.Reader, c workload.Change) []workload.Key {
	return workload.KeysOf(r.All(workload.AttributesClasses, ""), func(workload.Object) bool { return c.Old != nil })
}

// classUsed reports whether a claim or a volume uses the class (F-08).
func classUsed(v workload.View) bool {
	is := func(name *string) bool {
		return name != nil && *name == v.Object.(*storagev1.VolumeAttributesClass).Name
	}
	return slices.ContainsFunc(workload.All[*corev1.PersistentVolumeClaim](v, ""),
		func(c *corev1.PersistentVolumeClaim) bool {
			m := c.Status.ModifyVolumeStatus
			return is(c.Spec.VolumeAttributesClassName) || is(c.Status.CurrentVolumeAttributesClassName) ||
				m != nil && is(&m.TargetVolumeAttributesClassName)
		}) || slices.ContainsFunc(workload.All[*corev1.PersistentVolume](v, ""), func(p *corev1.PersistentVolume) bool {
		return is(p.Spec.VolumeAttributesClassName)
	})
}
