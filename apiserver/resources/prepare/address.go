package prepare

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilnet "k8s.io/utils/net"
)

// addressWarnings warns of addresses written in an odd way; what is no address is validation's.
func addressWarnings(at *field.Path, ip string) []string {
	if utilnet.ParseIPSloppy(ip) == nil {
		return nil
	}
	return validation.GetWarningsForIP(at, ip)
}

func rangeWarnings(at *field.Path, cidr string) []string {
	if _, _, err := utilnet.ParseCIDRSloppy(cidr); err != nil {
		return nil
	}
	return validation.GetWarningsForCIDR(at, cidr)
}

func serviceWarnings(s, _ *corev1.Service) []string {
	var texts []string
	spec, at := &s.Spec, field.NewPath("spec")
	if _, ok := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		texts = append(texts, fmt.Sprintf("annotation %s is deprecated, please use %s instead",
			corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	if spec.ClusterIP != "" && spec.ClusterIP != corev1.ClusterIPNone {
		for i, ip := range spec.ClusterIPs {
			texts = append(texts, addressWarnings(at.Child("clusterIPs").Index(i), ip)...)
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
	ignored(headless && spec.SessionAffinity != corev1.ServiceAffinityNone, "spec.SessionAffinity", "for headless services")
	for i, ip := range spec.ExternalIPs {
		texts = append(texts, addressWarnings(at.Child("externalIPs").Index(i), ip)...)
	}
	named := spec.Type == corev1.ServiceTypeExternalName
	if len(spec.ExternalIPs) > 0 && spec.ClusterIP != corev1.ClusterIPNone && !named {
		texts = append(texts, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	texts = append(texts, addressWarnings(at.Child("loadBalancerIP"), spec.LoadBalancerIP)...)
	for i, cidr := range spec.LoadBalancerSourceRanges {
		texts = append(texts, rangeWarnings(at.Child("loadBalancerSourceRanges").Index(i), cidr)...)
	}
	ignored(named && len(spec.ExternalIPs) > 0, "spec.externalIPs", `when spec.type is "ExternalName"`)
	ignored(!named && spec.ExternalName != "", "spec.externalName", `when spec.type is not "ExternalName"`)
	if value(spec.TrafficDistribution) == corev1.ServiceTrafficDistributionPreferClose {
		texts = append(texts, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q",
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return texts
}

func serviceStatusWarnings(s, _ *corev1.Service) []string {
	var texts []string
	for i, in := range s.Status.LoadBalancer.Ingress {
		texts = append(texts, addressWarnings(balancer.Index(i), in.IP)...)
	}
	return texts
}

var balancer = field.NewPath("status", "loadBalancer", "ingress")

func ingressStatusWarnings(g, _ *networkingv1.Ingress) []string {
	var texts []string
	for i, in := range g.Status.LoadBalancer.Ingress {
		texts = append(texts, addressWarnings(balancer.Index(i), in.IP)...)
	}
	return texts
}

// ingressWarnings are for new ones only.
func ingressWarnings(g, old *networkingv1.Ingress) []string {
	const class = "kubernetes.io/ingress.class"
	if _, ok := g.Annotations[class]; !ok || old != nil || g.Spec.IngressClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", class)}
}

func networkPolicyWarnings(p, _ *networkingv1.NetworkPolicy) []string {
	var texts []string
	peers := func(at *field.Path, list []networkingv1.NetworkPolicyPeer) {
		for i := range list {
			block := list[i].IPBlock
			if block == nil {
				continue
			}
			path := at.Index(i).Child("ipBlock")
			texts = append(texts, rangeWarnings(path.Child("cidr"), block.CIDR)...)
			for j, except := range block.Except {
				texts = append(texts, rangeWarnings(path.Child("except").Index(j), except)...)
			}
		}
	}
	for i := range p.Spec.Ingress {
		peers(field.NewPath("spec", "ingress").Index(i).Child("from"), p.Spec.Ingress[i].From)
	}
	for i := range p.Spec.Egress {
		peers(field.NewPath("spec", "egress").Index(i).Child("to"), p.Spec.Egress[i].To)
	}
	return texts
}

// endpointsWarnings trust the controller that usually writes endpoints.
func endpointsWarnings(e, _ *corev1.Endpoints) []string {
	if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return nil
	}
	var texts []string
	addresses := func(at *field.Path, list []corev1.EndpointAddress) {
		for i := range list {
			texts = append(texts, addressWarnings(at.Index(i).Child("ip"), list[i].IP)...)
		}
	}
	for i := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		addresses(at.Child("addresses"), e.Subsets[i].Addresses)
		addresses(at.Child("notReadyAddresses"), e.Subsets[i].NotReadyAddresses)
	}
	return texts
}

// sliceWarnings trust the controllers that usually write slices.
func sliceWarnings(s, old *discoveryv1.EndpointSlice) []string {
	var texts []string
	if old == nil && s.AddressType == discoveryv1.AddressTypeFQDN {
		texts = append(texts, "spec.addressType: FQDN endpoints are deprecated")
	}
	switch s.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return texts
	}
	for i := range s.Endpoints {
		for j, address := range s.Endpoints[i].Addresses {
			texts = append(texts, addressWarnings(field.NewPath("endpoints").Index(i).Child("addresses").Index(j), address)...)
		}
	}
	return texts
}
