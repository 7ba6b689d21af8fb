package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// ControllerRef returns the reference by which an object says that owner controls it (I-01).
func ControllerRef(owner Object) metav1.OwnerReference {
	r, yes := Of(owner), true
	return metav1.OwnerReference{APIVersion: r.APIVersion(), Kind: r.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes}
}

// Claiming says how objects are adopted and released.
type Claiming struct {
	// Selector chooses what the owner wants.
	Selector labels.Selector
	// Finalizers are added on adoption and taken off on release (I-15).
	Finalizers []string
	// Adoptable, if set, says which free objects may be adopted; it isn't asked about those that are being
	// deleted or don't match.
	Adoptable func(Object) bool
}

// Claim decides which of the objects that the owner controls, and of the free ones of its namespace, are its
// own (I-11), and what is to be done so that it is written in them. mine has those that are to be adopted as
// they will be, but for their resourceVersion; it is sorted as the arguments are, controlled ones first.
//
// The owner was read with the objects, after every acknowledged write, which is the live read that
// upstream makes before an adoption (I-12). Each adoption or release is on the condition that the object has
// not changed since; another controller that was faster makes it a conflict (I-13, I-14).
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
		if o.GetDeletionTimestamp() != nil || !c.Selector.Matches(labels.Set(o.GetLabels())) || c.Adoptable != nil && !c.Adoptable(o) {
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
	refs := slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
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
	o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }))
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return slices.Contains(c.Finalizers, f) }))
	return o
}

// Selector reads a label selector; one that can't be read, or is nil, chooses nothing. An empty one chooses
// nothing too, as it would take everything in the namespace
// (K pkg/controller/replicaset: syncReplicaSet logs an error for it).
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
