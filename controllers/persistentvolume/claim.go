package persistentvolume

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

func syncClaim(v workload.View, p *corev1.PersistentVolumeClaim, _ time.Time) workload.Plan {
	if _, done := p.Annotations[bindCompleted]; done {
		return bound(v, p)
	}
	if p.Spec.VolumeName != "" {
		return named(v, p)
	}
	return unbound(v, p)
}

// unbound finds a volume for a claim, or requests one (syncUnboundClaim).
func unbound(r workload.Reader, p *corev1.PersistentVolumeClaim) workload.Plan {
	late := delayed(r, p)
	if v := match(r, p, late); v != nil {
		return bind(v, p)
	}
	if c := defaultClass(r); c != nil && !hasClass(p) {
		next := p.DeepCopy()
		next.Spec.StorageClassName = &c.Name
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
	}
	_, scheduled := p.Annotations[selectedNode]
	switch {
	case late && !scheduled:
		return pending(p, consumers(r, p))
	case classOf(p) != "":
		return provision(r, p)
	}
	return pending(p, workload.Normal("FailedBinding",
		"no persistent volumes available for this claim and no storage class is set"))
}

// named binds a claim to the volume that its user has chosen (syncUnboundClaim).
func named(r workload.Reader, p *corev1.PersistentVolumeClaim) workload.Plan {
	v := workload.Get[*corev1.PersistentVolume](r, "", p.Spec.VolumeName)
	switch {
	case v == nil:
		return pending(p)
	case refers(v, p):
		return bind(v, p)
	case v.Spec.ClaimRef != nil:
		taken := workload.Warning("FailedBinding", fmt.Sprintf("volume %q already bound to a different claim.", v.Name))
		if _, ours := p.Annotations[boundByController]; ours {
			return workload.Plan{Events: []workload.Event{taken}}
		}
		return pending(p, taken)
	}
	if err := satisfies(v, p); err != nil {
		return pending(p, workload.Warning("VolumeMismatch",
			fmt.Sprintf("Cannot bind to requested volume %q: %s", v.Name, err)))
	}
	return bind(v, p)
}

// bound checks that a claim and its volume still belong together (syncBoundClaim).
func bound(r workload.Reader, p *corev1.PersistentVolumeClaim) workload.Plan {
	if p.Spec.VolumeName == "" {
		return lost(p, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	}
	v := workload.Get[*corev1.PersistentVolume](r, "", p.Spec.VolumeName)
	switch {
	case v == nil:
		return lost(p, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	case v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID == p.UID:
		return bind(v, p)
	}
	return lost(p, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
}

func lost(p *corev1.PersistentVolumeClaim, reason, message string) workload.Plan {
	if p.Status.Phase == corev1.ClaimLost {
		return workload.Plan{}
	}
	return workload.Plan{Status: claimStatus(p, corev1.ClaimLost, nil),
		Events: []workload.Event{workload.Warning(reason, message)}}
}

func pending(p *corev1.PersistentVolumeClaim, events ...workload.Event) workload.Plan {
	return workload.Plan{Status: claimStatus(p, corev1.ClaimPending, nil), Events: events}
}

// consumers returns an event that names the pods for which a claim waits (emitEventForUnboundDelayBindingClaim).
func consumers(r workload.Reader, p *corev1.PersistentVolumeClaim) workload.Event {
	var names []string
	for _, pod := range users(r, p) {
		if pod.Spec.NodeName == "" {
			names = append(names, pod.Name)
		}
	}
	switch len(names) {
	case 0:
		return workload.Normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		return workload.Normal("WaitForPodScheduled", fmt.Sprintf("waiting for pod %s to be scheduled", names[0]))
	}
	return workload.Normal("WaitForPodScheduled",
		fmt.Sprintf("waiting for pods %s to be scheduled", strings.Join(names, ",")))
}

// users returns the pods that use a claim and have not ended (findPodsByPVCKey, IsPodTerminated).
func users(r workload.Reader, p *corev1.PersistentVolumeClaim) []*corev1.Pod {
	return slices.DeleteFunc(r.PodsMounting(workload.KeyOf(p)), ended)
}

// ended reports whether no container of the pod will run any more.
func ended(pod *corev1.Pod) bool {
	if workload.Finished(pod) {
		return true
	}
	return pod.DeletionTimestamp != nil &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return c.State.Terminated == nil && c.State.Waiting == nil
		})
}
