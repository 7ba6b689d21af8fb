package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// ControllerRef returns a controller reference to owner (I-01).
func ControllerRef(owner Object) metav1.OwnerReference {
	r, yes := Of(owner), true
	return metav1.OwnerReference{APIVersion: r.APIVersion(), Kind: r.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes}
}

// Claiming configures adoption and release.
type Claiming struct {
	// Selector selects the objects that the owner adopts.
	Selector labels.Selector
	// Finalizers are added on adoption and removed on release (I-15).
	Finalizers []string
	// Adoptable, if set, decides which free objects may be adopted; it isn't called for objects that are being deleted or
	// that Selector does not match.
	Adoptable func(Object) bool
}

// Claim decides which objects belong to the owner (I-11). controlled has the objects whose controller is the owner,
// free has those in its namespace without a controller. do has the writes that adopt and release objects. mine has the
// objects of the owner, controlled ones first; adopted ones have the new owner reference, but the old resourceVersion.
//
// Upstream reads the owner again before an adoption (I-12). That is not needed here: owner and objects are from one
// state of the store, with every acknowledged write. If an object has changed since, for example because another
// controller has adopted it, the write fails with a conflict (I-13, I-14).
func Claim[T Object](owner Object, c Claiming, controlled, free []T) (mine []T, do []Action) {
	dying := owner.GetDeletionTimestamp() != nil
	for _, o := range controlled {
		switch {
		case c.Selector.Matches(labels.Set(o.GetLabels())):
			mine = append(mine, o)
		case !dying:
			do = append(do, Update{Object: c.release(owner, o)})
		}
	}
	if dying {
		return mine, do
	}
	for _, o := range free {
		if o.GetDeletionTimestamp() != nil || !c.Selector.Matches(labels.Set(o.GetLabels())) ||
			c.Adoptable != nil && !c.Adoptable(o) {
			continue
		}
		adopted := c.adopt(owner, o)
		mine, do = append(mine, adopted.(T)), append(do, Update{Object: adopted})
	}
	return mine, do
}

// adopt returns a copy of the object that has the owner as its controller, and the finalizers.
func (c Claiming) adopt(owner, o Object) Object {
	o = o.DeepCopyObject().(Object)
	refs := slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == owner.GetUID()
	})
	o.SetOwnerReferences(append(refs, ControllerRef(owner)))
	for _, f := range c.Finalizers {
		if !slices.Contains(o.GetFinalizers(), f) {
			o.SetFinalizers(append(o.GetFinalizers(), f))
		}
	}
	return o
}

// release returns a copy of the object without the references to the owner and without the finalizers.
func (c Claiming) release(owner, o Object) Object {
	o = o.DeepCopyObject().(Object)
	o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == owner.GetUID()
	}))
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(c.Finalizers, f) }))
	return o
}

// Selector converts a label selector. An invalid, nil or empty selector selects nothing: otherwise an empty one would
// select everything in the namespace (K pkg/controller/replicaset: syncReplicaSet logs an error for it).
func Selector(s *metav1.LabelSelector) labels.Selector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing()
	}
	out, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return out
}
