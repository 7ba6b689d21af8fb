package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// defaultAddresses sets the first of a pod's addresses from podIP, because older kubelets set only podIP.
func defaultAddresses(s *corev1.PodStatus) {
	if s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP) {
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
}

// defaultPod sets the defaults that only pods have, and templates do not: it copies limits to requests, and container
// ports to host ports (SetDefaults_Pod).
func defaultPod(p *corev1.Pod) {
	fillPod(p)
	podspec.DropLegacyInits(&p.ObjectMeta)
	podspec.DefaultSpec(&p.Spec)
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	defaultAddresses(&p.Status)
	check.Round(p.Status.AllocatedResources)
	check.DefaultRequirements(p.Status.Resources)
	for _, s := range slices.Concat(
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses,
	) {
		check.Round(s.AllocatedResources)
		check.DefaultRequirements(s.Resources)
	}
}

func fillPod(p *corev1.Pod) {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
			for j := range containers[i].Ports {
				if port := &containers[i].Ports[j]; p.Spec.HostNetwork {
					check.FillDefault(&port.HostPort, port.ContainerPort)
				}
			}
		}
	}
	podResources(p)
	check.SetDefault(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}

func requestLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = make(corev1.ResourceList, len(r.Limits))
	}
	addMissing(r.Requests, r.Limits)
}

// podResources sets the defaults of pod-level resources, if a pod has any (PodLevelResources). The limit of huge pages
// is the sum of those of the containers, unless the pod requests them. If the pod has limits, a missing request is the
// sum of the containers' requests, or else the limit.
func podResources(p *corev1.Pod) {
	r := p.Spec.Resources
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	for name, q := range podresource.AggregateContainerLimits(p, podresource.PodResourcesOptions{}) {
		if _, requested := r.Requests[name]; check.IsHugePage(name) && !requested {
			r.Limits = withDefault(r.Limits, name, q)
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	for name, q := range podresource.AggregateContainerRequests(p, podresource.PodResourcesOptions{}) {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory { // these limits may exceed the request
			r.Requests = withDefault(r.Requests, name, q)
		}
	}
	for name, q := range r.Limits {
		if podresource.IsSupportedPodLevelResource(name) {
			r.Requests = withDefault(r.Requests, name, q)
		}
	}
}

// withDefault returns list with a quantity of a resource, unless list has the resource.
func withDefault(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	if _, ok := list[name]; !ok {
		list[name] = q.DeepCopy()
	}
	return list
}
