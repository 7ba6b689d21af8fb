package core

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podresource "k8s.io/component-helpers/resource"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// syncAppArmor copies AppArmor profiles from annotations to the fields that replaced them. It does so if the container
// has no profile and the pod has another one (applyAppArmorVersionSkew).
func syncAppArmor(p *corev1.Pod) {
	eachAppArmor(p, func(c *corev1.Container, _ string, profile *corev1.AppArmorProfile) {
		if profile == nil || apiequality.Semantic.DeepEqual(profile, podspec.PodAppArmor(&p.Spec)) {
			return
		}
		c.SecurityContext = cmp.Or(c.SecurityContext, &corev1.SecurityContext{})
		c.SecurityContext.AppArmorProfile = profile
	})
}

// appArmorWarnings returns warnings for annotations that are copied, or would be copied if they were valid.
func appArmorWarnings(p *corev1.Pod) []string {
	var texts []string
	eachAppArmor(p, func(_ *corev1.Container, key string, profile *corev1.AppArmorProfile) {
		if profile == nil || !apiequality.Semantic.DeepEqual(profile, podspec.PodAppArmor(&p.Spec)) {
			texts = append(texts, podspec.DeprecatedAppArmor(nil, key))
		}
	})
	return texts
}

// eachAppArmor calls f for containers that have an annotation and no field. The arguments are the container, the
// annotation's key and its profile, or nil if the annotation is invalid.
func eachAppArmor(p *corev1.Pod, f func(c *corev1.Container, key string, profile *corev1.AppArmorProfile)) {
	if p.Spec.OS != nil && p.Spec.OS.Name == corev1.Windows {
		return
	}
	for c := range podspec.Containers(&p.Spec, nil) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		value, ok := p.Annotations[key]
		if ok && (c.SecurityContext == nil || c.SecurityContext.AppArmorProfile == nil) {
			f(c, key, appArmorProfile(value))
		}
	}
}

func appArmorProfile(annotation string) *corev1.AppArmorProfile {
	switch annotation {
	case corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	}
	const longest = 4095
	name, ok := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	if !ok || name == "" || len(name) > longest || strings.TrimSpace(name) != name {
		return nil
	}
	return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
}

// createPod sets the phase Pending. It keeps only the QoS class of the status that a client sends.
func createPod(p *corev1.Pod) {
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: cmp.Or(p.Status.QOSClass, qosClass(&p.Spec))}
	podspec.DropFields(&p.Spec, nil)
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

func updatePod(p, old *corev1.Pod) {
	p.Status = old.Status
	podspec.DropFields(&p.Spec, &old.Spec)
}

// keepPodStatus restores the deletionTimestamp (B-41), the owners, because old kubelets would corrupt them, and fields
// that old clients do not send.
func keepPodStatus(p, old *corev1.Pod) {
	p.DeletionTimestamp = old.DeletionTimestamp
	p.OwnerReferences = old.OwnerReferences
	check.FillDefault(&p.Status.QOSClass, old.Status.QOSClass)
	keepObserved(&p.Status, &old.Status)
	keepClaims(&p.Status, &old.Status)
	if len(old.Status.VolumeHealth) == 0 { // CSIVolumeHealth (V-023)
		p.Status.VolumeHealth = nil
	}
}

// keepClaims restores the states of claims that the new status lacks, because a pod never loses them (V-069;
// pod/strategy.go: podStatusStrategy). It removes new states of the feature gate DRANodeAllocatableResources, which is
// off, unless the old status has any.
func keepClaims(s, old *corev1.PodStatus) {
	if len(s.ResourceClaimStatuses) == 0 {
		s.ResourceClaimStatuses = old.ResourceClaimStatuses
	}
	s.ExtendedResourceClaimStatus = cmp.Or(s.ExtendedResourceClaimStatus, old.ExtendedResourceClaimStatus)
	if len(s.NodeAllocatableResourceClaimStatuses) == 0 || len(old.NodeAllocatableResourceClaimStatuses) == 0 {
		s.NodeAllocatableResourceClaimStatuses = old.NodeAllocatableResourceClaimStatuses
	}
}

// keepObserved adds the observed generations that the new status lacks. Conditions with the same type are matched in
// their order.
func keepObserved(s, old *corev1.PodStatus) {
	check.FillDefault(&s.ObservedGeneration, old.ObservedGeneration)
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
		check.FillDefault(&c.ObservedGeneration, was[0])
	}
}

// ephemeralContainers restores all fields except the ephemeral containers.
func ephemeralContainers(p, old *corev1.Pod) {
	containers := p.Spec.EphemeralContainers
	keepPod(p, old.DeepCopy())
	p.Spec.EphemeralContainers = containers
	podspec.DropFields(&p.Spec, &old.Spec)
}

// resizePod restores all fields except resources and resize policies. If containers were added, removed or renamed, it
// changes nothing, and validation rejects the request.
func resizePod(p, old *corev1.Pod) {
	if len(p.Spec.Containers) == len(old.Spec.Containers) && len(p.Spec.InitContainers) == len(old.Spec.InitContainers) {
		kept := old.DeepCopy()
		containers := resized(p.Spec.Containers, kept.Spec.Containers)
		inits := resized(p.Spec.InitContainers, kept.Spec.InitContainers)
		whole := p.Spec.Resources
		keepPod(p, kept)
		p.Spec.Containers, p.Spec.InitContainers, p.Spec.Resources = containers, inits, whole
	}
	podspec.DropFields(&p.Spec, &old.Spec)
}

// resized returns the old containers with the new resources. For a renamed container it returns the client's container.
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

// keepPod copies spec, status and metadata from the old pod.
func keepPod(p, kept *corev1.Pod) {
	p.Spec, p.Status = kept.Spec, kept.Status
	metav1.ResetObjectMetaForStatus(p, kept)
}

// matchLabelKeys adds requirements for the keys in affinity and topology spread constraints. The values are those of
// the pod's labels.
func matchLabelKeys(p *corev1.Pod) {
	for _, t := range podspec.AffinityTerms(p.Spec.Affinity, nil) {
		require(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
		require(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, p.Labels)
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		require(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
}

// require adds requirements to a selector. A nil selector matches nothing, and stays nil.
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

// podWarnings returns the warnings for a new pod. Updates have none, because controllers send them.
func podWarnings(p, old *corev1.Pod) []string {
	if old != nil {
		return nil
	}
	texts := podspec.NameWarnings("the Pod's hostname", p.Name)
	return append(texts, podspec.SpecWarnings(nil, &p.Spec, &p.ObjectMeta)...)
}

func podStatusWarnings(p, _ *corev1.Pod) []string {
	var texts []string
	for i, ip := range p.Status.PodIPs {
		texts = append(texts, check.AddressWarnings(field.NewPath("status", "podIPs").Index(i).Child("ip"), ip.IP)...)
	}
	for i, ip := range p.Status.HostIPs {
		texts = append(texts, check.AddressWarnings(field.NewPath("status", "hostIPs").Index(i).Child("ip"), ip.IP)...)
	}
	return texts
}

// qosClass returns the pod's quality of service class: Guaranteed if all containers have equal requests and limits of
// CPU and memory, BestEffort if no container has either, and Burstable otherwise. Pod-level resources precede those of
// containers (ComputePodQOS).
func qosClass(s *corev1.PodSpec) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	if podresource.IsPodLevelResourcesSet(&corev1.Pod{Spec: *s}) {
		sumUp(requests, s.Resources.Requests)
		if len(s.Resources.Limits) > 0 {
			guaranteed = sumUp(limits, s.Resources.Limits)
		}
	} else {
		for _, c := range slices.Concat(s.Containers, s.InitContainers) {
			sumUp(requests, c.Resources.Requests)
			guaranteed = sumUp(limits, c.Resources.Limits) && guaranteed
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, q := range requests {
		limit, ok := limits[name]
		guaranteed = guaranteed && ok && limit.Cmp(q) == 0
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// sumUp adds CPU and memory of list to total, and reports whether list has both.
func sumUp(total, list corev1.ResourceList) bool {
	found := 0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		q, ok := list[name]
		if !ok || q.Sign() <= 0 {
			continue
		}
		found++
		sum := q.DeepCopy()
		sum.Add(total[name])
		total[name] = sum
	}
	return found == 2
}
