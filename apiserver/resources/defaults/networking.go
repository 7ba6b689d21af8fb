package defaults

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// NetworkPolicy governs ingress, and egress if it has rules for it.
func NetworkPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for i := range p.Spec.Ingress {
		policyPorts(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		policyPorts(p.Spec.Egress[i].Ports)
	}
}

func policyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		set(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

// IngressClass finds its parameters among cluster scoped objects.
func IngressClass(c *networkingv1.IngressClass) {
	if c.Spec.Parameters != nil {
		set(&c.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}

// EndpointSlice fills in ports.
func EndpointSlice(s *discoveryv1.EndpointSlice) {
	for i := range s.Ports {
		set(&s.Ports[i].Name, "")
		set(&s.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}
