package serviceip

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Keep sets allocated values that a client omitted, so that allocation sees what an update requests
// (patchAllocatedValues, normalizeClusterIPs). old is nil for a new service.
func Keep(s, old *corev1.Service) {
	if old == nil {
		FirstClusterIP(&s.Spec)
		return
	}
	KeepAllocated(&s.Spec, &old.Spec)
	AlignClusterIPs(&s.Spec, &old.Spec)
}

// FirstClusterIP copies clusterIP of a client that does not know clusterIPs.
func FirstClusterIP(s *corev1.ServiceSpec) {
	if s.ClusterIP != "" && len(s.ClusterIPs) == 0 {
		s.ClusterIPs = []string{s.ClusterIP}
	}
}

// KeepAllocated is upstream's patchAllocatedValues.
func KeepAllocated(s, old *corev1.ServiceSpec) {
	if HasClusterIP(s) && HasClusterIP(old) {
		if s.ClusterIP == "" {
			s.ClusterIP = old.ClusterIP
		}
		if len(s.ClusterIPs) == 0 && len(old.ClusterIPs) > 0 {
			s.ClusterIPs = slices.Clone(old.ClusterIPs)
		}
	}
	if HasNodePort(s) && HasNodePort(old) {
		keepNodePorts(s, old)
	}
	if HasHealthCheck(s) && HasHealthCheck(old) && s.HealthCheckNodePort == 0 {
		s.HealthCheckNodePort = old.HealthCheckNodePort
	}
}

// AlignClusterIPs handles clients that set only one of clusterIP and clusterIPs (normalizeClusterIPs).
func AlignClusterIPs(s, old *corev1.ServiceSpec) {
	if len(old.ClusterIPs) > 0 && len(s.ClusterIPs) == 0 && old.ClusterIP == s.ClusterIP {
		s.ClusterIPs = slices.Clone(old.ClusterIPs)
	}
	if old.ClusterIP == s.ClusterIP || !slices.Equal(old.ClusterIPs, s.ClusterIPs) {
		return
	}
	if old.ClusterIP != "" && s.ClusterIP == "" {
		s.ClusterIPs = nil
	} else {
		s.ClusterIPs = []string{s.ClusterIP}
	}
}

// HasClusterIP reports whether services of the type have cluster IPs.
func HasClusterIP(s *corev1.ServiceSpec) bool { return s.Type != corev1.ServiceTypeExternalName }

// HasNodePort reports whether ports of services of the type have node ports.
func HasNodePort(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer
}

// HasHealthCheck reports whether a service has a node port for health checks.
func HasHealthCheck(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// keepNodePorts gives ports without a node port the one that the port of that name had, unless another port requests
// it.
func keepNodePorts(s, old *corev1.ServiceSpec) {
	byName, taken := map[string]int32{}, map[int32]bool{}
	for _, p := range old.Ports {
		byName[p.Name] = p.NodePort
	}
	had := NodePorts(old)
	for port := range NodePorts(s) {
		taken[port] = had[port]
	}
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NodePort == 0 && !taken[byName[p.Name]] {
			p.NodePort = byName[p.Name]
		}
	}
}

// NodePorts are the node ports of a service.
func NodePorts(s *corev1.ServiceSpec) map[int32]bool {
	set := map[int32]bool{}
	for _, p := range s.Ports {
		if p.NodePort != 0 {
			set[p.NodePort] = true
		}
	}
	return set
}
