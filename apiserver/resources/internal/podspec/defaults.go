package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// legacyInits are the keys of annotations for init containers, which fields have replaced.
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
	check.FillDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	check.FillDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	check.SetDefault(&s.SecurityContext, corev1.PodSecurityContext{})
	check.SetDefault(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	check.FillDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
	// Both fields have the same meaning. Upstream's internal type has only one of them, so both are equal in every
	// response (pkg/apis/core/v1/conversion.go).
	check.FillDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	for c := range Containers(s, nil) {
		defaultContainer(c)
	}
	check.Round(s.Overhead)
	check.DefaultRequirements(s.Resources)
}

func defaultContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = DefaultPullPolicy(c.Image)
	}
	check.FillDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	check.FillDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		check.FillDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from == nil {
			continue
		}
		defaultFieldRef(from.FieldRef)
		if from.FileKeyRef != nil {
			check.SetDefault(&from.FileKeyRef.Optional, false)
		}
	}
	check.DefaultRequirements(&c.Resources)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			defaultProbe(p)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

func defaultFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		check.FillDefault(&f.APIVersion, "v1")
	}
}

func defaultProbe(p *corev1.Probe) {
	check.FillDefault(&p.TimeoutSeconds, 1)
	check.FillDefault(&p.PeriodSeconds, 10)
	check.FillDefault(&p.SuccessThreshold, 1)
	check.FillDefault(&p.FailureThreshold, 3)
	defaultHTTPGet(p.HTTPGet)
	if p.GRPC != nil {
		check.SetDefault(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	if h != nil {
		check.FillDefault(&h.Path, "/")
		check.FillDefault(&h.Scheme, corev1.URISchemeHTTP)
	}
}
