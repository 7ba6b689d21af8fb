package defaults

import (
	corev1 "k8s.io/api/core/v1"
)

// Pod fills in a pod's spec, and what holds for pods but not for the templates they are made from:
// requests follow limits, host ports follow container ports (SetDefaults_Pod).
func Pod(p *corev1.Pod) {
	pod(p)
	dropLegacyInits(&p.ObjectMeta)
	PodSpec(&p.Spec)
	addresses(&p.Status)
	round(p.Status.AllocatedResources)
	requirements(p.Status.Resources)
	for _, statuses := range [][]corev1.ContainerStatus{
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			round(statuses[i].AllocatedResources)
			requirements(statuses[i].Resources)
		}
	}
}

func pod(p *corev1.Pod) {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
		}
	}
	podResources(p)
	set(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if !p.Spec.HostNetwork {
		return
	}
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			for j := range containers[i].Ports {
				fill(&containers[i].Ports[j].HostPort, containers[i].Ports[j].ContainerPort)
			}
		}
	}
}

// requestLimits requests what is limited and not requested.
func requestLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = make(corev1.ResourceList, len(r.Limits))
	}
	missing(r.Requests, r.Limits)
}

// missing copies the entries that list lacks.
func missing(list, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := list[name]; !ok {
			list[name] = q.DeepCopy()
		}
	}
}

// PodTemplate fills in the template's spec.
func PodTemplate(t *corev1.PodTemplate) { template(&t.Template) }

// PodSpec fills in the spec of a pod or of a template of pods.
func PodSpec(s *corev1.PodSpec) {
	podSpec(s)
	accounts(s)
	for i := range s.Volumes {
		Volume(&s.Volumes[i])
	}
	for _, containers := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range containers {
			Container(&containers[i])
		}
	}
	for i := range s.EphemeralContainers {
		Container((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	round(s.Overhead)
	requirements(s.Resources)
}

func podSpec(s *corev1.PodSpec) {
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	set(&s.SecurityContext, corev1.PodSecurityContext{})
	set(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
}

// Container fills in one container of a pod.
func Container(c *corev1.Container) {
	container(c)
	for i := range c.Ports {
		containerPort(&c.Ports[i])
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			fieldRef(from.FieldRef)
			fileKey(from.FileKeyRef)
		}
	}
	requirements(&c.Resources)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		Probe(p)
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				httpGet(h.HTTPGet)
			}
		}
	}
}

func container(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

func containerPort(p *corev1.ContainerPort) { fill(&p.Protocol, corev1.ProtocolTCP) }

func fieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		fill(&f.APIVersion, "v1")
	}
}

func fileKey(f *corev1.FileKeySelector) {
	if f != nil {
		set(&f.Optional, false)
	}
}

// Probe fills in a probe; nil is none.
func Probe(p *corev1.Probe) {
	if p == nil {
		return
	}
	probe(p)
	httpGet(p.HTTPGet)
	grpc(p.GRPC)
}

func probe(p *corev1.Probe) {
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
}

func httpGet(h *corev1.HTTPGetAction) {
	if h != nil {
		fill(&h.Path, "/")
		fill(&h.Scheme, corev1.URISchemeHTTP)
	}
}

func grpc(g *corev1.GRPCAction) {
	if g != nil {
		set(&g.Service, "")
	}
}
