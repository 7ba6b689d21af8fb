package unused

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Eligible reports whether the claim has the condition at all.
func Eligible(c *corev1.PersistentVolumeClaim) bool {
	return c.Status.Phase == corev1.ClaimBound && c.DeletionTimestamp == nil
}

// condition is the condition of a claim that is used, or not.
func condition(used bool) corev1.PersistentVolumeClaimCondition {
	if used {
		return corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimUnused,
			Status: corev1.ConditionFalse, Reason: "PodUsingPVC", Message: "A pod is currently referencing this PVC"}
	}
	return corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimUnused,
		Status: corev1.ConditionTrue, Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC"}
}

// updated returns the claim with the condition of its users, or nil if it has it already or isn't Eligible.
func updated(c *corev1.PersistentVolumeClaim, by users, now time.Time) *corev1.PersistentVolumeClaim {
	if !Eligible(c) {
		return nil
	}
	next := condition(by.use(c))
	at := slices.IndexFunc(c.Status.Conditions, func(o corev1.PersistentVolumeClaimCondition) bool {
		return o.Type == next.Type
	})
	if at >= 0 && c.Status.Conditions[at].Status == next.Status {
		return nil
	}
	next.LastTransitionTime = metav1.NewTime(now)
	c = c.DeepCopy()
	if at < 0 {
		c.Status.Conditions = append(c.Status.Conditions, next)
	} else {
		c.Status.Conditions[at] = next
	}
	return c
}

// users says which pods refer to a name of a claim.
type users struct {
	// any is set if a pod names the claim.
	any bool
	// owners are the pods with an ephemeral volume of the name, which is the claim that such a pod controls.
	owners []types.UID
}

// use reports whether one of them refers to the claim.
func (u users) use(c *corev1.PersistentVolumeClaim) bool {
	owner := metav1.GetControllerOfNoCopy(c)
	return u.any || owner != nil && slices.Contains(u.owners, owner.UID)
}
