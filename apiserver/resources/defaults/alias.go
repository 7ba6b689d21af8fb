package defaults

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Some fields say one thing twice. Upstream's internal types have it once, so that both fields agree
// in every answer (pkg/apis/core/v1/conversion.go).

// accounts lets the older name of a pod's service account follow the newer one.
func accounts(s *corev1.PodSpec) {
	fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// addresses lets a pod's address be the first of its addresses; older kubelets know only that one.
func addresses(s *corev1.PodStatus) {
	if s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP) {
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
}

// ranges does so for a node's range of addresses.
func ranges(s *corev1.NodeSpec) {
	if s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR) {
		s.PodCIDRs = []string{s.PodCIDR}
	}
	if len(s.PodCIDRs) > 0 {
		s.PodCIDR = s.PodCIDRs[0]
	}
}

// foldStrings moves a secret's text into its data.
func foldStrings(s *corev1.Secret) {
	if len(s.StringData) > 0 && s.Data == nil {
		s.Data = make(map[string][]byte, len(s.StringData))
	}
	for key, text := range s.StringData {
		s.Data[key] = []byte(text)
	}
	s.StringData = nil
}

// legacyInits are annotations that were init containers before these were fields.
var legacyInits = []string{
	"pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers",
	"pod.alpha.kubernetes.io/init-container-statuses", "pod.beta.kubernetes.io/init-container-statuses",
}

func dropLegacyInits(m *metav1.ObjectMeta) {
	for _, key := range legacyInits {
		delete(m.Annotations, key)
	}
}

// template fills in what pods are made from.
func template(t *corev1.PodTemplateSpec) {
	dropLegacyInits(&t.ObjectMeta)
	PodSpec(&t.Spec)
}
