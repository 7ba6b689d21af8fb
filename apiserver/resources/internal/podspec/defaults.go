package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/defaulting"
)

// Some fields say one thing twice. Upstream's internal types have it once, so that both fields agree
// in every answer (pkg/apis/core/v1/conversion.go).

// accounts lets the older name of a pod's service account follow the newer one.
func accounts(s *corev1.PodSpec) {
	defaulting.Fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// legacyInits are annotations that were init containers before these were fields.
var legacyInits = []string{
	"pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers",
	"pod.alpha.kubernetes.io/init-container-statuses", "pod.beta.kubernetes.io/init-container-statuses",
}

// DropLegacyInits removes the annotations that were init containers before these were fields.
func DropLegacyInits(m *metav1.ObjectMeta) {
	for _, key := range legacyInits {
		delete(m.Annotations, key)
	}
}

// DefaultTemplate fills in what pods are made from.
func DefaultTemplate(t *corev1.PodTemplateSpec) {
	DropLegacyInits(&t.ObjectMeta)
	DefaultSpec(&t.Spec)
}

// DefaultSpec fills in the spec of a pod or of a template of pods.
func DefaultSpec(s *corev1.PodSpec) {
	fillSpec(s)
	accounts(s)
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	for _, containers := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range containers {
			defaultContainer(&containers[i])
		}
	}
	for i := range s.EphemeralContainers {
		defaultContainer((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	defaulting.Round(s.Overhead)
	defaulting.DefaultRequirements(s.Resources)
}

func fillSpec(s *corev1.PodSpec) {
	defaulting.Fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	defaulting.Fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	defaulting.Set(&s.SecurityContext, corev1.PodSecurityContext{})
	defaulting.Set(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	defaulting.Fill(&s.SchedulerName, corev1.DefaultSchedulerName)
}

// defaultContainer fills in one container of a pod.
func defaultContainer(c *corev1.Container) {
	fillContainer(c)
	for i := range c.Ports {
		fillContainerPort(&c.Ports[i])
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			fillFieldRef(from.FieldRef)
			fillFileKey(from.FileKeyRef)
		}
	}
	defaulting.DefaultRequirements(&c.Resources)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(p)
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				fillHttpGet(h.HTTPGet)
			}
		}
	}
}

func fillContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = PullPolicy(c.Image)
	}
	defaulting.Fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	defaulting.Fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

func fillContainerPort(p *corev1.ContainerPort) { defaulting.Fill(&p.Protocol, corev1.ProtocolTCP) }

func fillFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		defaulting.Fill(&f.APIVersion, "v1")
	}
}

func fillFileKey(f *corev1.FileKeySelector) {
	if f != nil {
		defaulting.Set(&f.Optional, false)
	}
}

// defaultProbe fills in a probe; nil is none.
func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	fillProbe(p)
	fillHttpGet(p.HTTPGet)
	fillGrpc(p.GRPC)
}

func fillProbe(p *corev1.Probe) {
	defaulting.Fill(&p.TimeoutSeconds, 1)
	defaulting.Fill(&p.PeriodSeconds, 10)
	defaulting.Fill(&p.SuccessThreshold, 1)
	defaulting.Fill(&p.FailureThreshold, 3)
}

func fillHttpGet(h *corev1.HTTPGetAction) {
	if h != nil {
		defaulting.Fill(&h.Path, "/")
		defaulting.Fill(&h.Scheme, corev1.URISchemeHTTP)
	}
}

func fillGrpc(g *corev1.GRPCAction) {
	if g != nil {
		defaulting.Set(&g.Service, "")
	}
}
