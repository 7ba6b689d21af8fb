package endpoint

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// headless reports whether the service has no cluster IP.
func headless(s *corev1.Service) bool {
	return s.Spec.ClusterIP == corev1.ClusterIPNone || s.Spec.ClusterIP == ""
}

// addresses returns the pod's addresses of the family, in canonical form.
func addresses(p *corev1.Pod, family discoveryv1.AddressType) (out []string) {
	for _, ip := range p.Status.PodIPs {
		a, err := netip.ParseAddr(ip.IP)
		if err == nil && a.Is4() == (family == discoveryv1.AddressTypeIPv4) {
			out = append(out, a.String())
		}
	}
	return out
}

// families returns the IP families of the service (k8s.io/endpointslice: getAddressTypesForService).
func families(s *corev1.Service) (out []discoveryv1.AddressType) {
	for _, f := range s.Spec.IPFamilies {
		out = append(out, discoveryv1.AddressType(f))
	}
	if len(out) > 0 {
		return out
	}
	if a, err := netip.ParseAddr(s.Spec.ClusterIP); err == nil {
		if a.Is4() {
			return []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4}
		}
		return []discoveryv1.AddressType{discoveryv1.AddressTypeIPv6}
	}
	return []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
}

// target returns the number of a service's port in a pod; ok is false if the pod has no port of that name.
func target(p *corev1.Pod, port corev1.ServicePort) (n int32, ok bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	for _, c := range workload.LastingContainers(p) {
		for _, have := range c.Ports {
			if have.Name == port.TargetPort.StrVal && have.Protocol == port.Protocol {
				return have.ContainerPort, true
			}
		}
	}
	return 0, false
}

// named reports whether the pod has a DNS name of its own in the service.
func named(p *corev1.Pod, s *corev1.Service) bool {
	return p.Spec.Hostname != "" && p.Spec.Subdomain == s.Name && p.Namespace == s.Namespace
}

func reference(p *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

// pointer returns a pointer to a copy, nil for an empty string.
func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
