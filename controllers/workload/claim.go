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
	// Adoptable, if set, decides which free objects may be adopted; it isn't called for those that are being deleted or
	// don't match.
	Adoptable func(Object) bool
}

// Claim decides which objects belong to the owner (I-11), among those that it controls and the free ones of its
// namespace, and which writes adopt or release objects for that. mine has those to be adopted in the new state, except
// for the resourceVersion; it is sorted as the arguments are, controlled ones first.
//
// The owner was read together with the objects, after every acknowledged write; this replaces the live read that
// upstream makes before an adoption (I-12). Each adoption or release requires that the object has not changed since; if
// another controller was faster it is a conflict (I-13, I-14).
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

// adopt returns the object with the owner as its controller.
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

// release returns the object without the owner.
func (c Claiming) release(owner, o Object) Object {
	o = o.DeepCopyObject().(Object)
	o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == owner.GetUID()
	}))
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(c.Finalizers, f) }))
	return o
}

// Selector converts a label selector. An invalid or nil one selects nothing. Neither does an empty one, as it would
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
