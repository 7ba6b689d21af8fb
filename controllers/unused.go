package controllers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// unusedClaims maintains the condition Unused of PersistentVolumeClaims, which has the time since which no pod has
// referred to a claim (V-083; K pkg/controller/volume/pvcprotection, with the gate
// PersistentVolumeClaimUnusedSinceTime). Only claims that are bound and not being deleted get it. It is True while no
// pod that has not finished mounts the claim; pods without a node count. lastTransitionTime changes with the status
// only.
func unusedClaims() workload.Controller {
	return workload.Controller{
		Name: "pvc-unused", For: workload.Claims, Quiet: true, Sees: []workload.Resource{workload.Pods},
		Decide: unused, Task: "update the condition Unused of a claim",
		Wake: func(r workload.Reader, c workload.Change) (keys []workload.Key) {
			switch {
			case c.Resource == workload.Pods:
				keys = claimsOf(r, c)
			case c.New != nil && !c.New.Deleting:
				keys = []workload.Key{c.New.Key}
			}
			return slices.DeleteFunc(keys, func(k workload.Key) bool {
				v := workload.View{Reader: r, Key: k, Object: r.Get(workload.Claims, k.Namespace, k.Name)}
				return unused(v, time.Time{}).Status == nil // most changes of pods and claims don't change the condition
			})
		},
	}
}

// unused decides about a claim. While a pod can't be decoded, the condition is left as it is.
func unused(v workload.View, now time.Time) workload.Plan {
	c, ok := v.Object.(*corev1.PersistentVolumeClaim)
	if !ok || c.Status.Phase != corev1.ClaimBound || dying(c) || !v.Readable(workload.Pods, c.Namespace) {
		return workload.Plan{}
	}
	next := condition(slices.ContainsFunc(v.PodsMounting(v.Key), func(p *corev1.Pod) bool {
		named, owned := mounts(p, c)
		return !workload.Finished(p) && (named || owned)
	}))
	at := slices.IndexFunc(c.Status.Conditions, func(o corev1.PersistentVolumeClaimCondition) bool {
		return o.Type == next.Type
	})
	if at >= 0 && c.Status.Conditions[at].Status == next.Status {
		return workload.Plan{}
	}
	next.LastTransitionTime = metav1.NewTime(now)
	c = c.DeepCopy()
	if at < 0 {
		c.Status.Conditions = append(c.Status.Conditions, next)
	} else {
		c.Status.Conditions[at] = next
	}
	return workload.Plan{Status: c}
}

// condition returns the condition of a claim that is used, or not.
func condition(used bool) corev1.PersistentVolumeClaimCondition {
	if used {
		return corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimUnused,
			Status: corev1.ConditionFalse, Reason: "PodUsingPVC", Message: "A pod is currently referencing this PVC"}
	}
	return corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimUnused,
		Status: corev1.ConditionTrue, Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC"}
}
