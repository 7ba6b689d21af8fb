package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// keepAllocations sets allocated values that a client omitted, so that allocation sees what an update requests
// (patchAllocatedValues, normalizeClusterIPs). old is nil for a new service.
func keepAllocations(s, old *corev1.Service) {
	if old == nil {
		firstClusterIP(&s.Spec)
		return
	}
	keepAllocated(&s.Spec, &old.Spec)
	alignClusterIPs(&s.Spec, &old.Spec)
}

// firstClusterIP copies clusterIP of a client that does not know clusterIPs.
func firstClusterIP(s *corev1.ServiceSpec) {
	if s.ClusterIP != "" && len(s.ClusterIPs) == 0 {
		s.ClusterIPs = []string{s.ClusterIP}
	}
}

// keepAllocated is upstream's patchAllocatedValues.
func keepAllocated(s, old *corev1.ServiceSpec) {
	if hasClusterIP(s) && hasClusterIP(old) {
		if s.ClusterIP == "" {
			s.ClusterIP = old.ClusterIP
		}
		if len(s.ClusterIPs) == 0 && len(old.ClusterIPs) > 0 {
			s.ClusterIPs = slices.Clone(old.ClusterIPs)
		}
	}
	if hasNodePort(s) && hasNodePort(old) {
		keepNodePorts(s, old)
	}
	if hasHealthCheck(s) && hasHealthCheck(old) && s.HealthCheckNodePort == 0 {
		s.HealthCheckNodePort = old.HealthCheckNodePort
	}
}

// alignClusterIPs handles clients that set only one of clusterIP and clusterIPs (normalizeClusterIPs).
func alignClusterIPs(s, old *corev1.ServiceSpec) {
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

// hasClusterIP reports whether services of the type have cluster IPs.
func hasClusterIP(s *corev1.ServiceSpec) bool { return s.Type != corev1.ServiceTypeExternalName }

// hasNodePort reports whether ports of services of the type have node ports.
func hasNodePort(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer
}

// hasHealthCheck reports whether a service has a node port for health checks.
func hasHealthCheck(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// keepNodePorts gives ports without a node port the one that the port of that name had, unless another port requests
// it.
func keepNodePorts(s, old *corev1.ServiceSpec) {
	byName, taken := map[string]int32{}, map[int32]bool{}
	for _, p := range old.Ports {
		byName[p.Name] = p.NodePort
	}
	had := nodePortSet(old)
	for port := range nodePortSet(s) {
		taken[port] = had[port]
	}
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NodePort == 0 && !taken[byName[p.Name]] {
			p.NodePort = byName[p.Name]
		}
	}
}

// nodePortSet returns the node ports of a service.
func nodePortSet(s *corev1.ServiceSpec) map[int32]bool {
	set := map[int32]bool{}
	for _, p := range s.Ports {
		if p.NodePort != 0 {
			set[p.NodePort] = true
		}
	}
	return set
}
