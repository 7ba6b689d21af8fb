package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Some fields have the same meaning. Upstream's internal types have only one of them, so both are equal in every
// response (pkg/apis/core/v1/conversion.go).

// accounts copies the newer field of a pod's service account to the older one.
func accounts(s *corev1.PodSpec) {
	check.FillDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// legacyInits are annotations that contained init containers before these had fields.
var legacyInits = []string{
	"pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers",
	"pod.alpha.kubernetes.io/init-container-statuses", "pod.beta.kubernetes.io/init-container-statuses",
}

// DropLegacyInits removes these annotations.
func DropLegacyInits(m *metav1.ObjectMeta) {
	for _, key := range legacyInits {
		delete(m.Annotations, key)
	}
}

// DefaultTemplate sets the defaults of a pod template.
func DefaultTemplate(t *corev1.PodTemplateSpec) {
	DropLegacyInits(&t.ObjectMeta)
	DefaultSpec(&t.Spec)
}

// DefaultSpec sets the defaults of the spec of a pod or of a pod template.
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
	check.Round(s.Overhead)
	check.DefaultRequirements(s.Resources)
}

func fillSpec(s *corev1.PodSpec) {
	check.FillDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	check.FillDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	check.SetDefault(&s.SecurityContext, corev1.PodSecurityContext{})
	check.SetDefault(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	check.FillDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
}

// defaultContainer sets the defaults of a container.
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
	check.DefaultRequirements(&c.Resources)
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
		c.ImagePullPolicy = DefaultPullPolicy(c.Image)
	}
	check.FillDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	check.FillDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

func fillContainerPort(p *corev1.ContainerPort) { check.FillDefault(&p.Protocol, corev1.ProtocolTCP) }

func fillFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		check.FillDefault(&f.APIVersion, "v1")
	}
}

func fillFileKey(f *corev1.FileKeySelector) {
	if f != nil {
		check.SetDefault(&f.Optional, false)
	}
}

// defaultProbe sets the defaults of a probe, unless it is nil.
func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	fillProbe(p)
	fillHttpGet(p.HTTPGet)
	fillGrpc(p.GRPC)
}

func fillProbe(p *corev1.Probe) {
	check.FillDefault(&p.TimeoutSeconds, 1)
	check.FillDefault(&p.PeriodSeconds, 10)
	check.FillDefault(&p.SuccessThreshold, 1)
	check.FillDefault(&p.FailureThreshold, 3)
}

func fillHttpGet(h *corev1.HTTPGetAction) {
	if h != nil {
		check.FillDefault(&h.Path, "/")
		check.FillDefault(&h.Scheme, corev1.URISchemeHTTP)
	}
}

func fillGrpc(g *corev1.GRPCAction) {
	if g != nil {
		check.SetDefault(&g.Service, "")
	}
}
