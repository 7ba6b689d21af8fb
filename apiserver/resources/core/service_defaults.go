package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// DefaultService sets the defaults of a service's type, ports, affinity and policies, but nothing that is allocated.
func DefaultService(s *corev1.Service) {
	check.FillDefault(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	switch s.Spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		s.Spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		affinity(&s.Spec)
	}
	check.FillDefault(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		check.FillDefault(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if isExternal(&s.Spec) {
		check.FillDefault(&s.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP:
		check.SetDefault(&s.Spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		check.SetDefault(&s.Spec.AllocateLoadBalancerNodePorts, true)
		for i := range s.Status.LoadBalancer.Ingress {
			if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" {
				check.SetDefault(&in.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

// affinity replaces a session affinity configuration without a timeout.
func affinity(s *corev1.ServiceSpec) {
	c := s.SessionAffinityConfig
	if c != nil && c.ClientIP != nil && c.ClientIP.TimeoutSeconds != nil {
		return
	}
	seconds := corev1.DefaultClientIPServiceAffinitySeconds
	s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
}

// isExternal reports whether a service is reachable from outside of the cluster.
func isExternal(s *corev1.ServiceSpec) bool {
	switch s.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return true
	case corev1.ServiceTypeClusterIP:
		return len(s.ExternalIPs) > 0
	}
	return false
}
