package registry

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestPortsOfServicesResolveToAddresses: the addresses to which ports of Services are resolved (L-72, L-73, O-05).
func TestPortsOfServicesResolveToAddresses(t *testing.T) {
	spec := func(s corev1.ServiceSpec, ports ...corev1.ServicePort) *corev1.Service {
		s.Ports = ports
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "svc"}, Spec: s}
	}
	https := corev1.ServicePort{Name: "https", Port: 443, TargetPort: intstr.FromString("named")}
	slice := func(family discoveryv1.AddressType, ports []discoveryv1.EndpointPort, endpoints ...discoveryv1.Endpoint,
	) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{AddressType: family, Ports: ports, Endpoints: endpoints}
	}
	port := func(name string, number int32) discoveryv1.EndpointPort {
		return discoveryv1.EndpointPort{Name: &name, Port: &number}
	}
	at := func(ready *bool, addresses ...string) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: ready}}
	}
	ports := []discoveryv1.EndpointPort{port("metrics", 9090), port("https", 9443)}
	clusterIP := corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.9"}
	dual := clusterIP
	dual.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol}
	const none = `no endpoints available for service "svc": this server has no cluster network`
	for _, test := range []struct {
		name   string
		svc    *corev1.Service
		slices []*discoveryv1.EndpointSlice
		port   int32
		want   string
	}{
		{"external name", spec(corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "h.example"}), nil,
			444, "h.example:444"},
		{"loopback cluster IP", spec(corev1.ServiceSpec{ClusterIP: "127.0.0.1"}, https), nil, 443, "127.0.0.1:443"},
		{"loopback IPv6", spec(corev1.ServiceSpec{ClusterIP: "::1"}, https), nil, 443, "[::1]:443"},
		{"no port", spec(clusterIP, https), nil, 444, `no service port 444 found for service "svc"`},
		{"no slices", spec(clusterIP, https), nil, 443, none},
		{"ready", spec(clusterIP, https),
			[]*discoveryv1.EndpointSlice{slice("IPv4", ports, at(new(true), "10.1.0.1", "10.1.0.2"))}, 443, "10.1.0.1:9443"},
		{"ready unknown", spec(clusterIP, https), []*discoveryv1.EndpointSlice{slice("IPv4", ports, at(nil, "10.1.0.1"))},
			443, "10.1.0.1:9443"},
		{"the ready one", spec(clusterIP, https), []*discoveryv1.EndpointSlice{
			slice("IPv4", ports, at(new(false), "10.1.0.1"), at(new(true), "10.1.0.3")),
		}, 443, "10.1.0.3:9443"},
		{"none ready", spec(clusterIP, https), []*discoveryv1.EndpointSlice{slice("IPv4", ports, at(new(false), "10.1.0.1"))},
			443, none},
		{"another port", spec(clusterIP, https),
			[]*discoveryv1.EndpointSlice{slice("IPv4", ports[:1], at(nil, "10.1.0.1")), slice("IPv4", ports, at(nil, "10.1.0.2"))},
			443, "10.1.0.2:9443"},
		{"port without a number", spec(clusterIP, https), []*discoveryv1.EndpointSlice{
			slice("IPv4", []discoveryv1.EndpointPort{{Name: new("https")}}, at(nil, "10.1.0.1")),
		}, 443, none},
		{"primary family", spec(dual, https), []*discoveryv1.EndpointSlice{
			slice("IPv4", ports, at(nil, "10.1.0.1")), slice("IPv6", ports, at(nil, "fd00::1")),
		}, 443, "[fd00::1]:9443"},
		{"other family", spec(dual, https), []*discoveryv1.EndpointSlice{slice("IPv4", ports, at(nil, "10.1.0.1"))}, 443,
			"10.1.0.1:9443"},
		{"headless", spec(corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}, https),
			[]*discoveryv1.EndpointSlice{slice("IPv4", ports, at(nil, "10.1.0.1"))}, 443, "10.1.0.1:9443"},
	} {
		got, err := serviceAddress(test.svc, test.slices, test.port)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && !(err != nil && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	seen := map[string]bool{}
	all := []*discoveryv1.EndpointSlice{slice("IPv4", ports, at(nil, "10.1.0.1"), at(nil, "10.1.0.2")),
		slice("IPv4", ports, at(nil, "10.1.0.3"))}
	for range 1000 {
		got, _ := serviceAddress(spec(clusterIP, https), all, 443)
		seen[got] = true
	}
	if len(seen) != 3 {
		t.Errorf("of three endpoints, only %v are used", seen)
	}
}
