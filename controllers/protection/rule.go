package protection

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Rule says which kind one controller protects, and from deletion while which kinds use it.
type Rule struct {
	protects  Kind
	finalizer string
	// users are the kinds whose objects refer to protected ones; none if a protected object's own state says whether it
	// is in use.
	users []Kind
}

// Volumes protects PersistentVolumes while they are bound (F-03).
func Volumes() Rule { return Rule{protects: Volume, finalizer: "kubernetes.io/pv-protection"} }

// Claims protects PersistentVolumeClaims that pods on nodes mount (F-04).
func Claims() Rule {
	return Rule{protects: Claim, finalizer: "kubernetes.io/pvc-protection", users: []Kind{Pod}}
}

// Classes protects VolumeAttributesClasses that claims and volumes have, had or request (F-08).
func Classes() Rule {
	return Rule{protects: Class, finalizer: "kubernetes.io/vac-protection", users: []Kind{Claim, Volume}}
}

// Verdict is what to do about an object.
type Verdict uint8

// The verdicts.
const (
	// Leave: nothing until it changes.
	Leave Verdict = iota
	// Add the finalizer: it is not being deleted and lacks it (F-02).
	Add
	// Keep: it is being deleted and in use.
	Keep
	// Remove the finalizer: it is being deleted and not in use.
	Remove
)

// String returns the verdict's name.
func (v Verdict) String() string { return [...]string{"leave", "add", "keep", "remove"}[v] }

// pending reports whether the object needs a write now or, while it is in use, later.
func (r Rule) pending(o metav1.Object) bool {
	return slices.Contains(o.GetFinalizers(), r.finalizer) == dying(o)
}

func dying(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }

// decide decides about an object, given its users.
func (r Rule) decide(o Object, users []Object) Verdict {
	switch {
	case !r.pending(o):
		return Leave
	case !dying(o):
		return Add
	case used(o, users):
		return Keep
	}
	return Remove
}

// finalizers returns an object's finalizers after the verdict. The object isn't modified.
func (r Rule) finalizers(o metav1.Object, v Verdict) []string {
	fs := slices.Clone(o.GetFinalizers())
	switch v {
	case Add:
		return append(fs, r.finalizer)
	case Remove:
		return slices.DeleteFunc(fs, func(f string) bool { return f == r.finalizer })
	}
	return fs
}

// used reports whether the object is in use, by its own status or by its users.
func used(o Object, users []Object) bool {
	if v, ok := o.(*corev1.PersistentVolume); ok {
		return v.Status.Phase == corev1.VolumeBound // F-03: set by the volume controller
	}
	key, owner := keyOf(o), controller(o)
	return slices.ContainsFunc(users, func(u Object) bool {
		return slices.ContainsFunc(uses(u), func(x use) bool { return x.Key == key && (x.owner == "" || x.owner == owner) })
	})
}

// controller is the UID of the object's controller; empty if there is none.
func controller(o metav1.Object) types.UID {
	if c := metav1.GetControllerOfNoCopy(o); c != nil {
		return c.UID
	}
	return ""
}

// use is a reference from one object to another that it uses.
type use struct {
	Key
	// owner, if not empty, is the UID of the required controller of the used object; another object with the name is
	// not used.
	owner types.UID
}

// uses returns the objects that an object of a users' kind uses, sorted, each once.
func uses(user Object) []use {
	var all []use
	switch u := user.(type) {
	case *corev1.Pod:
		all = mounts(u)
	case *corev1.PersistentVolumeClaim: // F-08
		all = classes(u.Spec.VolumeAttributesClassName, u.Status.CurrentVolumeAttributesClassName)
		if m := u.Status.ModifyVolumeStatus; m != nil {
			all = append(all, classes(&m.TargetVolumeAttributesClassName)...)
		}
	case *corev1.PersistentVolume:
		all = classes(u.Spec.VolumeAttributesClassName)
	}
	slices.SortFunc(all, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.owner, b.owner))
	})
	return slices.Compact(all)
}

// mounts are a pod's claims. A pod without a node mounts nothing, and no node will start it with a claim that is being
// deleted (F-07). A finished pod counts while it exists (F-04).
func mounts(p *corev1.Pod) []use {
	if p.Spec.NodeName == "" {
		return nil
	}
	var all []use
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			all = append(all, use{Key: Key{p.Namespace, v.PersistentVolumeClaim.ClaimName}})
		case v.Ephemeral != nil && !shutDown(p): // F-05
			all = append(all, use{Key: Key{p.Namespace, p.Name + "-" + v.Name}, owner: p.UID})
		}
	}
	return all
}

// shutDown reports whether the pod's node has stopped it, or it was deleted by force. Its finalizers may wait for the
// same claims that wait for the pod (F-05).
func shutDown(p *corev1.Pod) bool {
	return dying(p) && p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0
}

func classes(names ...*string) []use {
	var all []use
	for _, n := range names {
		if n != nil && *n != "" {
			all = append(all, use{Key: Key{Name: *n}})
		}
	}
	return all
}

// released returns what an object used and no longer uses, sorted, each once; now is nil if the object is gone.
func released(old, now Object) []Key {
	var still []use
	if now != nil {
		still = uses(now)
	}
	var keys []Key
	for _, u := range uses(old) {
		if !slices.Contains(still, u) {
			keys = append(keys, u.Key)
		}
	}
	return slices.Compact(keys)
}
