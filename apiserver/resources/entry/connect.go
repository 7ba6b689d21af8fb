package entry

import (
	"context"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Connection is a request that is forwarded: to the kubelet of a node, or into the cluster's network.
type Connection struct {
	// Namespace and Name are from the path. A proxied name may have a scheme and a port: "https:name:port".
	Namespace, Name string
	// Options are the parameters of the query.
	Options  runtime.Object
	Kubelets Kubelets
}

// Kubelets describes how to reach kubelets.
type Kubelets struct {
	// AddressTypes are the types of a node's addresses, in order of preference.
	AddressTypes []string
	// Port is the port of a kubelet if its node has none.
	Port int
	// Simulated returns the log of a simulated pod's container, and whether the log is complete. It is nil if there are
	// kubelets.
	Simulated func(p *corev1.Pod, container string, o *corev1.PodLogOptions, now time.Time) (string, bool, error)
}

// Connect returns the backend of a connection.
type Connect func(ctx context.Context, s Server, c *Connection) (*Backend, error)

// Backend is the target of a connection.
type Backend struct {
	// URL is nil for the log of a simulated pod, or of a pod without a node.
	URL *url.URL
	// Kubelet reports whether the server authenticates itself, as it does to kubelets. Insecure reports whether the
	// server does not verify the kubelet's certificate. Sockets reports whether the kubelet understands the same
	// WebSockets as the server.
	Kubelet, Insecure, Sockets bool
	// Public rejects hosts whose addresses are not global: loopback, link-local and multicast addresses.
	Public bool
	// Log is the log of a simulated pod, or nil. Follow reports whether the client also receives later lines.
	Log    *Log
	Follow bool
}

// Log is the content of a log.
type Log struct {
	Text string
	// Ended reports whether the log is complete.
	Ended bool
}

// ReadyEndpoint is an endpoint of a service with an address, and its port.
type ReadyEndpoint struct {
	*discoveryv1.Endpoint
	Port int32
}

// ReadyEndpoints returns the ready endpoints that have a port of the name, in random order, but those of the service's
// primary IP family first.
func ReadyEndpoints(s *corev1.Service, all []*discoveryv1.EndpointSlice, port string) []ReadyEndpoint {
	var primary, other []ReadyEndpoint
	for _, e := range all {
		i := slices.IndexFunc(e.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name != nil && *p.Name == port && p.Port != nil
		})
		if i < 0 {
			continue
		}
		list := &primary
		if len(s.Spec.IPFamilies) > 0 && string(e.AddressType) != string(s.Spec.IPFamilies[0]) {
			list = &other
		}
		for j := range e.Endpoints {
			one := &e.Endpoints[j]
			if ready := one.Conditions.Ready; (ready == nil || *ready) && len(one.Addresses) > 0 {
				*list = append(*list, ReadyEndpoint{one, *e.Ports[i].Port})
			}
		}
	}
	for _, list := range [][]ReadyEndpoint{primary, other} {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return append(primary, other...)
}
