package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func serviceWarnings(s, _ *corev1.Service) []string {
	var texts []string
	spec, at := &s.Spec, field.NewPath("spec")
	if _, ok := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		texts = append(texts, fmt.Sprintf("annotation %s is deprecated, please use %s instead",
			corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	if spec.ClusterIP != "" && spec.ClusterIP != corev1.ClusterIPNone {
		for i, ip := range spec.ClusterIPs {
			texts = append(texts, check.AddressWarnings(at.Child("clusterIPs").Index(i), ip)...)
		}
	}
	ignored := func(set bool, what, when string) {
		if set {
			texts = append(texts, fmt.Sprintf("%s is ignored %s", what, when))
		}
	}
	headless := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	ignored(headless && spec.LoadBalancerIP != "", "spec.loadBalancerIP", "for headless services")
	ignored(headless && len(spec.ExternalIPs) > 0, "spec.externalIPs", "for headless services")
	affine := spec.SessionAffinity != corev1.ServiceAffinityNone
	ignored(headless && affine, "spec.SessionAffinity", "for headless services")
	for i, ip := range spec.ExternalIPs {
		texts = append(texts, check.AddressWarnings(at.Child("externalIPs").Index(i), ip)...)
	}
	named := spec.Type == corev1.ServiceTypeExternalName
	if len(spec.ExternalIPs) > 0 && spec.ClusterIP != corev1.ClusterIPNone && !named {
		texts = append(texts, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	texts = append(texts, check.AddressWarnings(at.Child("loadBalancerIP"), spec.LoadBalancerIP)...)
	for i, cidr := range spec.LoadBalancerSourceRanges {
		texts = append(texts, check.RangeWarnings(at.Child("loadBalancerSourceRanges").Index(i), cidr)...)
	}
	ignored(named && len(spec.ExternalIPs) > 0, "spec.externalIPs", `when spec.type is "ExternalName"`)
	ignored(!named && spec.ExternalName != "", "spec.externalName", `when spec.type is not "ExternalName"`)
	if check.ValueOf(spec.TrafficDistribution) == corev1.ServiceTrafficDistributionPreferClose {
		texts = append(texts, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q",
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return texts
}

func serviceStatusWarnings(s, _ *corev1.Service) []string {
	var texts []string
	for i, in := range s.Status.LoadBalancer.Ingress {
		texts = append(texts, check.AddressWarnings(check.LoadBalancerIP.Index(i), in.IP)...)
	}
	return texts
}

// prepareService makes related fields consistent and sets address families. Addresses and ports are allocated
// elsewhere. beginService has already rejected families that the cluster can't serve. An update keeps allocated values
// that a client omits, and removes unchanged values that a service of the new type does not have.
func prepareService(s, old *corev1.Service) {
	keepAllocations(s, old)
	_ = setFamilies(s, old)
	if old != nil {
		dropUnneeded(s, old)
	}
}

// dropUnneeded removes the unchanged fields that a service of the new type does not have (dropTypeDependentFields).
func dropUnneeded(svc, oldSvc *corev1.Service) {
	s, old := &svc.Spec, &oldSvc.Spec
	if hasClusterIP(old) && !hasClusterIP(s) {
		if s.ClusterIP == old.ClusterIP && slices.Equal(s.ClusterIPs, old.ClusterIPs) {
			s.ClusterIP, s.ClusterIPs = "", nil
		}
		if slices.Equal(s.IPFamilies, old.IPFamilies) {
			s.IPFamilies = nil
		}
		if check.ValueOf(s.IPFamilyPolicy) == check.ValueOf(old.IPFamilyPolicy) {
			s.IPFamilyPolicy = nil
		}
	}
	had := check.Set(nodePorts(old)...)
	changed := slices.ContainsFunc(nodePorts(s), func(port int32) bool { return !had[port] })
	if hasNodePort(old) && !hasNodePort(s) && !changed {
		for i := range s.Ports {
			s.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheck(old) && !hasHealthCheck(s) && s.HealthCheckNodePort == old.HealthCheckNodePort {
		s.HealthCheckNodePort = 0
	}
	balanced := s.Type == corev1.ServiceTypeLoadBalancer
	if old.Type == corev1.ServiceTypeLoadBalancer && !balanced {
		if check.SamePointee(s.AllocateLoadBalancerNodePorts, old.AllocateLoadBalancerNodePorts) {
			s.AllocateLoadBalancerNodePorts = nil
		}
		if check.SamePointee(s.LoadBalancerClass, old.LoadBalancerClass) {
			s.LoadBalancerClass = nil
		}
	}
	if servesExternally(old) && !servesExternally(s) && s.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		s.ExternalTrafficPolicy = ""
	}
	if !balanced {
		svc.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// keepAllocations copies allocated values that a client omits, so that allocation sees the complete request
// (patchAllocatedValues, normalizeClusterIPs). old is nil for a new service.
func keepAllocations(s, old *corev1.Service) {
	if old == nil {
		if s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 { // for clients that do not know clusterIPs
			s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
		}
		return
	}
	keepAllocated(&s.Spec, &old.Spec)
	alignClusterIPs(&s.Spec, &old.Spec)
}

// keepAllocated copies allocated values that a client omits (patchAllocatedValues).
func keepAllocated(s, old *corev1.ServiceSpec) {
	if hasClusterIP(s) && hasClusterIP(old) {
		check.FillDefault(&s.ClusterIP, old.ClusterIP)
		if len(s.ClusterIPs) == 0 && len(old.ClusterIPs) > 0 {
			s.ClusterIPs = slices.Clone(old.ClusterIPs)
		}
	}
	if hasNodePort(s) && hasNodePort(old) {
		keepNodePorts(s, old)
	}
	if hasHealthCheck(s) && hasHealthCheck(old) {
		check.FillDefault(&s.HealthCheckNodePort, old.HealthCheckNodePort)
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

// keepNodePorts copies missing node ports from the old ports with the same names, unless another port requests them.
func keepNodePorts(s, old *corev1.ServiceSpec) {
	byName, taken := map[string]int32{}, map[int32]bool{}
	for _, p := range old.Ports {
		byName[p.Name] = p.NodePort
	}
	had := check.Set(nodePorts(old)...)
	for _, port := range nodePorts(s) {
		taken[port] = had[port]
	}
	for i := range s.Ports {
		if p := &s.Ports[i]; p.NodePort == 0 && !taken[byName[p.Name]] {
			p.NodePort = byName[p.Name]
		}
	}
}

// nodePorts returns the node ports of a service that are set.
func nodePorts(s *corev1.ServiceSpec) (ports []int32) {
	for _, p := range s.Ports {
		if p.NodePort != 0 {
			ports = append(ports, p.NodePort)
		}
	}
	return ports
}
