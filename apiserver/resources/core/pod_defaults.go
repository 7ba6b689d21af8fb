package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// defaultAddresses sets the first of a pod's addresses from podIP; older kubelets set only that.
func defaultAddresses(s *corev1.PodStatus) {
	if s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP) {
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
}

// defaultPod sets the defaults of a pod that its templates do not have: requests are copied from limits, and host ports
// from container ports (SetDefaults_Pod).
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
	for _, statuses := range [][]corev1.ContainerStatus{
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			check.Round(statuses[i].AllocatedResources)
			check.DefaultRequirements(statuses[i].Resources)
		}
	}
}

func fillPod(p *corev1.Pod) {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
		}
	}
	podResources(p)
	check.SetDefault(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if !p.Spec.HostNetwork {
		return
	}
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			for j := range containers[i].Ports {
				check.FillDefault(&containers[i].Ports[j].HostPort, containers[i].Ports[j].ContainerPort)
			}
		}
	}
}

// requestLimits copies limits to missing requests.
func requestLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = make(corev1.ResourceList, len(r.Limits))
	}
	missing(r.Requests, r.Limits)
}

// podResources sets the defaults of pod-level resources, if there are any (PodLevelResources). Limits of huge pages are
// the sum over the containers, unless the pod requests them. With limits, a missing request is the sum of the
// containers' requests, or else the limit.
func podResources(p *corev1.Pod) {
	r := p.Spec.Resources
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	limits := aggregate(&p.Spec, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
	for name, q := range limits {
		_, limited := r.Limits[name]
		_, requested := r.Requests[name]
		if hugePages(name) && !limited && !requested {
			put(&r.Limits, name, q)
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	requests := aggregate(&p.Spec, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
	for name, q := range requests {
		if _, ok := r.Requests[name]; !ok && overcommits(name) {
			put(&r.Requests, name, q)
		}
	}
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok && (overcommits(name) || hugePages(name)) {
			put(&r.Requests, name, q)
		}
	}
}

func put(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q.DeepCopy()
}

// overcommits reports whether a pod-level limit of a resource may exceed the request.
func overcommits(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// aggregate is the sum of a pod's resources: that of the containers and the sidecars or, if that is more, an init
// container and the sidecars before it.
func aggregate(s *corev1.PodSpec, pick func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range s.Containers {
		add(sum, pick(&s.Containers[i].Resources))
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		need := pick(&c.Resources)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, need)
			add(sidecars, need)
			most(peak, sidecars)
			continue
		}
		during := corev1.ResourceList{}
		add(during, need)
		add(during, sidecars)
		most(peak, during)
	}
	most(sum, peak)
	return sum
}

func add(list, more corev1.ResourceList) {
	for name, q := range more {
		total := q.DeepCopy()
		total.Add(list[name])
		list[name] = total
	}
}

func most(list, other corev1.ResourceList) {
	for name, q := range other {
		if have, ok := list[name]; !ok || q.Cmp(have) > 0 {
			list[name] = q.DeepCopy()
		}
	}
}
