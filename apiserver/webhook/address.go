package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// address returns the host and port at which a port of a Service answers (AS pkg/util/proxy/proxy.go: ResolveEndpoint,
// ResolveCluster). pick returns a number below n.
func address(
	s *corev1.Service, all []*discoveryv1.EndpointSlice, port int32, pick func(n int) int,
) (string, error) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return join(s.Spec.ExternalName, port), nil
	}
	i := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "", fmt.Errorf("no service port %d found for service %q", port, s.Name)
	}
	if ip, err := netip.ParseAddr(s.Spec.ClusterIP); err == nil && ip.IsLoopback() {
		return join(s.Spec.ClusterIP, port), nil
	}
	for _, family := range byFamily(s, all) {
		if ready := readyIn(family, s.Spec.Ports[i].Name); len(ready) > 0 {
			return ready[pick(len(ready))], nil
		}
	}
	return "", fmt.Errorf("no endpoints available for service %q: %w", s.Name, errNoNetwork)
}

// errNoNetwork: a Service without an address that can be reached.
var errNoNetwork = errors.New("this server has no cluster network and reaches only addresses in EndpointSlices")

// byFamily returns the slices of the Service's primary IP family, and then the others.
func byFamily(s *corev1.Service, all []*discoveryv1.EndpointSlice) [][]*discoveryv1.EndpointSlice {
	var primary, other []*discoveryv1.EndpointSlice
	for _, e := range all {
		if len(s.Spec.IPFamilies) == 0 || e.AddressType == discoveryv1.AddressType(s.Spec.IPFamilies[0]) {
			primary = append(primary, e)
		} else {
			other = append(other, e)
		}
	}
	return [][]*discoveryv1.EndpointSlice{primary, other}
}

// readyIn returns the ready addresses that have a port of the name.
func readyIn(all []*discoveryv1.EndpointSlice, name string) (out []string) {
	for _, e := range all {
		i := slices.IndexFunc(e.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name != nil && *p.Name == name && p.Port != nil
		})
		if i < 0 {
			continue
		}
		for _, one := range e.Endpoints {
			if ready := one.Conditions.Ready; (ready == nil || *ready) && len(one.Addresses) > 0 {
				out = append(out, join(one.Addresses[0], *e.Ports[i].Port)) // the others are not used
			}
		}
	}
	return out
}

func join(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
