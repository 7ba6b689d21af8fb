package workload

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// Finished reports whether the pod has Succeeded or Failed.
func Finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// LastingContainers returns the containers that run as long as the pod does.
func LastingContainers(p *corev1.Pod) []corev1.Container {
	sidecars := slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c corev1.Container) bool {
		return ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways
	})
	return slices.Concat(p.Spec.Containers, sidecars)
}

// Active reports whether the pod is active: it has not finished and isn't being deleted (I-19).
func Active(p *corev1.Pod) bool { return !Finished(p) && p.DeletionTimestamp == nil }

// Terminating reports whether the pod is being deleted and has not finished.
func Terminating(p *corev1.Pod) bool { return !Finished(p) && p.DeletionTimestamp != nil }

// Requested returns the time when the deletion of a pod was requested: its deletionTimestamp is the end of its grace
// period.
func Requested(p *corev1.Pod) time.Time {
	return p.DeletionTimestamp.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
}

// Ready reports whether the pod's Ready condition is True, and the time of its last transition; zero without the
// condition.
func Ready(p *corev1.Pod) (since time.Time, ok bool) {
	if c := PodCondition(p, corev1.PodReady); c != nil {
		return c.LastTransitionTime.Time, c.Status == corev1.ConditionTrue
	}
	return time.Time{}, false
}

// IsReady reports whether the pod's Ready condition is True.
func IsReady(p *corev1.Pod) bool {
	_, ok := Ready(p)
	return ok
}

// PodCondition returns the condition of a type in a pod's status; nil if there is none.
func PodCondition(p *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// SetPodCondition sets a condition, whose time only changes with its status, and reports whether its status, its reason
// or its message has changed (K pkg/api/v1/pod/util.go: UpdatePodCondition).
func SetPodCondition(p *corev1.Pod, c corev1.PodCondition) (changed bool) {
	had := PodCondition(p, c.Type)
	if had == nil {
		p.Status.Conditions = append(p.Status.Conditions, c)
		return true
	}
	changed = had.Status != c.Status || had.Reason != c.Reason || had.Message != c.Message
	if had.Status == c.Status {
		c.LastTransitionTime = had.LastTransitionTime
	}
	*had = c
	return changed
}

// Available returns the time until the pod has been ready for minReadySeconds, 0 if it has; ok is false if it isn't
// ready.
func Available(p *corev1.Pod, minReadySeconds int32, now time.Time) (wait time.Duration, ok bool) {
	since, ok := Ready(p)
	switch {
	case !ok:
		return 0, false
	case minReadySeconds == 0:
		return 0, true
	case since.IsZero(): // it never becomes available (K pkg/api/v1/pod: IsPodAvailable)
		return time.Duration(minReadySeconds) * time.Second, true
	}
	return max(0, since.Add(time.Duration(minReadySeconds)*time.Second).Sub(now)), true
}

// NodeTerms returns the terms of a pod's required node affinity.
func NodeTerms(p *corev1.Pod) []corev1.NodeSelectorTerm {
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil &&
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

// NamedNode returns the node that one of the terms names, as those of a DaemonSet's pods do; empty if none does.
func NamedNode(terms ...corev1.NodeSelectorTerm) string {
	for _, t := range terms {
		for _, f := range t.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// ClaimOf returns the name of the claim that a volume of the pod refers to: one of its namespace or, for a generic
// ephemeral volume, one that the pod controls (K pkg/controller/volume/common: PodPVCIndexFunc). Empty for other
// volumes.
func ClaimOf(p *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return p.Name + "-" + v.Name
	}
	return ""
}

// ClaimsOf returns the names of the claims that the pod's volumes refer to, sorted, each once.
func ClaimsOf(p *corev1.Pod) (names []string) {
	for i := range p.Spec.Volumes {
		if name := ClaimOf(p, &p.Spec.Volumes[i]); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CreatePod returns the action that creates a pod, with the events of upstream's pod control (K
// pkg/controller/controller_utils.go: RealPodControl).
func CreatePod(p *corev1.Pod) Create {
	return Create{Object: p, Done: Normal("SuccessfulCreate", "Created pod: "+Name),
		Failed: Warning("FailedCreate", "Error creating: "+Problem)}
}

// DeletePod returns the action that deletes a pod, with the events of upstream's pod control.
func DeletePod(p *corev1.Pod) Delete {
	return Delete{Object: p, Done: Normal("SuccessfulDelete", "Deleted pod: "+Name),
		Failed: Warning("FailedDelete", "Error deleting: "+Problem)}
}

// Disrupt returns the actions that delete a pod with the condition DisruptionTarget. The condition isn't written if the
// pod has it already.
func Disrupt(p *corev1.Pod, c corev1.PodCondition) []Action {
	c.Type, c.Status = corev1.DisruptionTarget, corev1.ConditionTrue
	next := p.DeepCopy()
	if !SetPodCondition(next, c) {
		return []Action{Delete{Object: p}}
	}
	return []Action{Update{Object: next, Status: true}, Delete{Object: p}}
}

// FromTemplate returns a pod of the template, controlled by the owner, with a generated name (I-03).
func FromTemplate(owner Object, t *corev1.PodTemplateSpec) *corev1.Pod {
	prefix := owner.GetName() + "-"
	if len(validation.NameIsDNSSubdomain(prefix, true)) > 0 {
		prefix = owner.GetName()
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: prefix, Namespace: owner.GetNamespace(),
			Labels: maps.Clone(t.Labels), Annotations: maps.Clone(t.Annotations), Finalizers: slices.Clone(t.Finalizers),
			OwnerReferences: []metav1.OwnerReference{ControllerRef(owner)},
		},
		Spec: *t.Spec.DeepCopy(),
	}
}

// Tolerates reports whether each taint of the effect is tolerated. Comparisons are off by default.
func Tolerates(tolerations []corev1.Toleration, taints []corev1.Taint, effect corev1.TaintEffect) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == effect && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool {
			return by.ToleratesTaint(klog.Logger{}, &t, false)
		})
	})
}
