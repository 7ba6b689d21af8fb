package prepare

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createPod makes a pod pending.
func createPod(p *corev1.Pod) {
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&p.Spec)}
	dropFields(&p.Spec, nil)
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{
			Type:               corev1.PodScheduled,
			Status:             corev1.ConditionFalse,
			LastTransitionTime: p.CreationTimestamp,
			Reason:             corev1.PodReasonSchedulingGated,
			Message:            "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	matchLabelKeys(p)
	syncAppArmor(p)
}

func updatePod(p, old *corev1.Pod) { dropFields(&p.Spec, &old.Spec) }

// podStatus keeps owners, which old kubelets would corrupt, and the deletion time (B-41), and what
// a client that doesn't know them would lose.
func podStatus(p, old *corev1.Pod) {
	p.DeletionTimestamp = old.DeletionTimestamp
	p.OwnerReferences = old.OwnerReferences
	if p.Status.QOSClass == "" {
		p.Status.QOSClass = old.Status.QOSClass
	}
	keepObserved(&p.Status, &old.Status)
	if len(old.Status.NodeAllocatableResourceClaimStatuses) == 0 { // DRANodeAllocatableResources
		p.Status.NodeAllocatableResourceClaimStatuses = nil
	}
}

// keepObserved keeps the generations that a status was observed at, where the new one names none.
// Conditions of one type are matched in their order.
func keepObserved(s, old *corev1.PodStatus) {
	if s.ObservedGeneration == 0 {
		s.ObservedGeneration = old.ObservedGeneration
	}
	observed := map[corev1.PodConditionType][]int64{}
	for _, c := range old.Conditions {
		observed[c.Type] = append(observed[c.Type], c.ObservedGeneration)
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		was := observed[c.Type]
		if len(was) == 0 {
			continue
		}
		observed[c.Type] = was[1:]
		if c.ObservedGeneration == 0 {
			c.ObservedGeneration = was[0]
		}
	}
}

// ephemeralContainers lets nothing but these change.
func ephemeralContainers(p, old *corev1.Pod) {
	containers := p.Spec.EphemeralContainers
	keepPod(p, old.DeepCopy())
	p.Spec.EphemeralContainers = containers
	dropFields(&p.Spec, &old.Spec)
}

// resizePod lets nothing but resources and resize policies change. If containers were added,
// removed or renamed it keeps the request as it is, for validation to refuse.
func resizePod(p, old *corev1.Pod) {
	if len(p.Spec.Containers) == len(old.Spec.Containers) && len(p.Spec.InitContainers) == len(old.Spec.InitContainers) {
		kept := old.DeepCopy()
		containers := resized(p.Spec.Containers, kept.Spec.Containers)
		inits := resized(p.Spec.InitContainers, kept.Spec.InitContainers)
		whole := p.Spec.Resources
		keepPod(p, kept)
		p.Spec.Containers, p.Spec.InitContainers, p.Spec.Resources = containers, inits, whole
	}
	dropFields(&p.Spec, &old.Spec)
}

// resized is old with the new resources, or what the client sent if it renamed one.
func resized(containers, old []corev1.Container) []corev1.Container {
	if len(containers) == 0 {
		return containers
	}
	merged := slices.Clone(old)
	for i := range containers {
		if merged[i].Name != containers[i].Name {
			return containers
		}
		merged[i].Resources = containers[i].Resources
		merged[i].ResizePolicy = containers[i].ResizePolicy
	}
	return merged
}

// keepPod takes spec, status and metadata from a copy of the old pod.
func keepPod(p, kept *corev1.Pod) {
	p.Spec, p.Status = kept.Spec, kept.Status
	metav1.ResetObjectMetaForStatus(p, kept)
}

// matchLabelKeys turns the keys that affinity and spreading name into requirements on the labels
// the pod has.
func matchLabelKeys(p *corev1.Pod) {
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			requireLabels(p, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			requireLabels(p, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		require(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
}

func requireLabels(p *corev1.Pod, preferred []corev1.WeightedPodAffinityTerm, required []corev1.PodAffinityTerm) {
	term := func(t *corev1.PodAffinityTerm) {
		require(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
		require(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, p.Labels)
	}
	for i := range preferred {
		term(&preferred[i].PodAffinityTerm)
	}
	for i := range required {
		term(&required[i])
	}
}

// require adds requirements to a selector; a nil one matches nothing and stays.
func require(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, labels map[string]string) {
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			s.MatchExpressions = append(s.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
}
