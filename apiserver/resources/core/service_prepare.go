package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilnet "k8s.io/utils/net"

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
	ignored(
		headless && spec.SessionAffinity != corev1.ServiceAffinityNone, "spec.SessionAffinity", "for headless services",
	)
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

// createService makes related fields consistent and decides about address families; addresses and ports are allocated
// elsewhere.
func createService(s *corev1.Service) {
	firstClusterIP(&s.Spec)
	families(s, nil)
}

// updateService keeps allocated values that a client omits, and removes unchanged values that a service of the new type
// does not have.
func updateService(s, old *corev1.Service) {
	keepAllocations(s, old)
	families(s, old)
	dropUnneeded(s, old)
}

// families decides about address families for a cluster with only IPv4. What such a cluster can't serve is not changed,
// for validation to reject (initIPFamilyFields).
func families(s, old *corev1.Service) {
	spec := &s.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	anyone := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if spec.IPFamilyPolicy == nil {
		policy := corev1.IPFamilyPolicySingleStack
		switch {
		case old != nil && old.Spec.IPFamilyPolicy != nil:
			policy = *old.Spec.IPFamilyPolicy
		case anyone:
			policy = corev1.IPFamilyPolicyRequireDualStack
		}
		spec.IPFamilyPolicy = &policy
	}
	single := *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	if old != nil && single {
		releaseSecond(spec, &old.Spec)
	}
	for i, ip := range spec.ClusterIPs {
		if utilnet.IsIPv4String(ip) && i >= len(spec.IPFamilies) {
			spec.IPFamilies = append(spec.IPFamilies, corev1.IPv4Protocol)
		}
	}
	if len(spec.IPFamilies) == 0 && !slices.ContainsFunc(spec.ClusterIPs, utilnet.IsIPv6String) {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	// A headless service without a selector may have both families, as its addresses are unknown.
	if anyone && !single && len(spec.IPFamilies) == 1 {
		other := corev1.IPv6Protocol
		if spec.IPFamilies[0] == corev1.IPv6Protocol {
			other = corev1.IPv4Protocol
		}
		spec.IPFamilies = append(spec.IPFamilies, other)
	}
}

// releaseSecond removes the second family of a service that becomes single-stack.
func releaseSecond(s, old *corev1.ServiceSpec) {
	if len(s.ClusterIPs) > 1 && slices.Equal(s.ClusterIPs, old.ClusterIPs) {
		s.ClusterIPs = s.ClusterIPs[:1]
	}
	if len(s.IPFamilies) > 1 && slices.Equal(s.IPFamilies, old.IPFamilies) {
		s.IPFamilies = s.IPFamilies[:1]
	}
}

// dropUnneeded is upstream's dropTypeDependentFields.
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
	if hasNodePort(old) && !hasNodePort(s) &&
		subset(nodePortSet(s), nodePortSet(old)) {
		for i := range s.Ports {
			s.Ports[i].NodePort = 0
		}
	}
	if hasHealthCheck(old) && !hasHealthCheck(s) && s.HealthCheckNodePort == old.HealthCheckNodePort {
		s.HealthCheckNodePort = 0
	}
	balanced := s.Type == corev1.ServiceTypeLoadBalancer
	if old.Type == corev1.ServiceTypeLoadBalancer && !balanced {
		if same(s.AllocateLoadBalancerNodePorts, old.AllocateLoadBalancerNodePorts) {
			s.AllocateLoadBalancerNodePorts = nil
		}
		if same(s.LoadBalancerClass, old.LoadBalancerClass) {
			s.LoadBalancerClass = nil
		}
	}
	if hasTrafficPolicy(old) && !hasTrafficPolicy(s) && s.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		s.ExternalTrafficPolicy = ""
	}
	if !balanced {
		svc.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// hasTrafficPolicy is also true for services with external addresses (ExternallyAccessible).
func hasTrafficPolicy(s *corev1.ServiceSpec) bool {
	return hasNodePort(s) || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0
}

func subset(a, b map[int32]bool) bool {
	for port := range a {
		if !b[port] {
			return false
		}
	}
	return true
}

// same reports whether both are nil or have equal targets.
func same[T comparable](a, b *T) bool {
	return (a == nil) == (b == nil) && check.ValueOf(a) == check.ValueOf(b)
}
