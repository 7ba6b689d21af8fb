package core

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// webSockets is the feature that a Node declares if its kubelet understands the WebSockets of clients.
const webSockets = "ExtendWebSocketsToKubelet"

// kubelet returns the address of a node's kubelet, without a path (K pkg/kubelet/client/kubelet_client.go:
// GetConnectionInfo).
func kubelet(ctx context.Context, s entry.Server, k entry.Kubelets, node string) (*entry.Backend, error) {
	obj, err := s.Get(ctx, entry.Reference{Resource: nodeResource, Name: node})
	if err != nil {
		return nil, err
	}
	n := obj.(*corev1.Node)
	host, err := preferredAddress(n, k.AddressTypes)
	if err != nil {
		return nil, err
	}
	port := int(n.Status.DaemonEndpoints.KubeletEndpoint.Port)
	if port <= 0 {
		port = k.Port
	}
	return &entry.Backend{
		URL:     &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(port))},
		Kubelet: true, Sockets: slices.Contains(n.Status.DeclaredFeatures, webSockets),
	}, nil
}

// preferredAddress returns the first address of a node in the order of types (K pkg/util/node/node.go:
// GetPreferredNodeAddress).
func preferredAddress(n *corev1.Node, types []string) (string, error) {
	for _, t := range types {
		for _, a := range n.Status.Addresses {
			if string(a.Type) == t {
				return a.Address, nil
			}
		}
	}
	return "", fmt.Errorf("no preferred addresses found; known addresses: %v", n.Status.Addresses)
}

// target is a proxied object: a name with an optional port and, if it has a port, an optional scheme.
type target struct{ scheme, name, port string }

func parseTarget(c *entry.Connection, kind string) (t target, err error) {
	var ok bool
	if t.scheme, t.name, t.port, ok = utilnet.SplitSchemeNamePort(c.Name); !ok {
		return t, apierrors.NewBadRequest(fmt.Sprintf("invalid %s request %q", kind, c.Name))
	}
	return t, nil
}

func (t target) url(host string) *url.URL {
	switch {
	case t.port != "":
		host = net.JoinHostPort(host, t.port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return &url.URL{Scheme: t.scheme, Host: host}
}

// proxyNode connects to a port of a node; the default is the kubelet's port (K pkg/registry/core/node/strategy.go:
// ResourceLocation).
func proxyNode(ctx context.Context, s entry.Server, c *entry.Connection) (*entry.Backend, error) {
	t, err := parseTarget(c, "node")
	if err != nil {
		return nil, err
	}
	b, err := kubelet(ctx, s, c.Kubelets, t.name)
	if err != nil {
		return nil, err
	}
	if c.Kubelets.Simulated != nil {
		return nil, simulated("node", t.name)
	}
	if t.port != "" && t.port != b.URL.Port() {
		b.URL, b.Kubelet = t.url(b.URL.Hostname()), false
	}
	b.Public = true
	return b, nil
}

// proxyPod connects to a port of a pod; the default is the first port that a container declares (K
// pkg/registry/core/pod/strategy.go: ResourceLocation).
func proxyPod(ctx context.Context, s entry.Server, c *entry.Connection) (*entry.Backend, error) {
	t, err := parseTarget(c, "pod")
	if err != nil {
		return nil, err
	}
	p, err := podOf(ctx, s, c.Namespace, t.name)
	if err != nil {
		return nil, err
	}
	for i := range p.Spec.Containers {
		if ports := p.Spec.Containers[i].Ports; t.port == "" && len(ports) > 0 {
			t.port = strconv.Itoa(int(ports[0].ContainerPort))
		}
	}
	switch {
	case c.Kubelets.Simulated != nil && p.Spec.NodeName != "":
		return nil, simulated("pod", t.name)
	case len(p.Status.PodIPs) == 0:
		return nil, apierrors.NewBadRequest("address not allowed")
	}
	return &entry.Backend{URL: t.url(p.Status.PodIPs[0].IP), Public: true}, nil
}

func podOf(ctx context.Context, s entry.Server, namespace, name string) (*corev1.Pod, error) {
	obj, err := s.Get(ctx, entry.Reference{Resource: podResource, Namespace: namespace, Name: name})
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// proxyService connects to a ready endpoint of a service (K pkg/registry/core/service/storage/storage.go:
// ResourceLocation; AS pkg/util/proxy/proxy.go: RandomEndpoint). The port is a number or name of a port of the service.
func proxyService(ctx context.Context, s entry.Server, c *entry.Connection) (*entry.Backend, error) {
	t, err := parseTarget(c, "service")
	if err != nil {
		return nil, err
	}
	obj, err := s.Get(ctx, entry.Reference{
		Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: c.Namespace, Name: t.name,
	})
	if err != nil {
		return nil, err
	}
	svc := obj.(*corev1.Service)
	if number, err := strconv.ParseInt(t.port, 10, 64); err == nil {
		i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return int64(p.Port) == number })
		if i < 0 {
			return nil, apierrors.NewServiceUnavailable(
				fmt.Sprintf("no service port %d found for service %q", number, t.name))
		}
		t.port = svc.Spec.Ports[i].Name
	}
	var all []*discoveryv1.EndpointSlice
	err = s.List(ctx, discoveryv1.SchemeGroupVersion.WithResource("endpointslices"), c.Namespace, func(o entry.Object) {
		if o.GetLabels()[discoveryv1.LabelServiceName] == t.name {
			all = append(all, o.(*discoveryv1.EndpointSlice))
		}
	})
	if err != nil {
		return nil, err
	}
	host, port, err := endpoint(ctx, s, svc, all, t.port)
	switch {
	case err != nil:
		return nil, err
	case c.Kubelets.Simulated != nil:
		return nil, simulated("service", t.name)
	}
	t.port = strconv.Itoa(int(port))
	return &entry.Backend{URL: t.url(host)}, nil
}

// endpoint returns a random endpoint that is ready, has the port, and is a pod.
func endpoint(
	ctx context.Context, s entry.Server, svc *corev1.Service, all []*discoveryv1.EndpointSlice, name string,
) (host string, port int32, err error) {
	for _, one := range entry.ReadyEndpoints(svc, all, name) {
		switch ok, err := isPod(ctx, s, svc.Namespace, one.Endpoint); {
		case err != nil:
			return "", 0, err
		case ok:
			return one.Addresses[0], one.Port, nil
		}
	}
	return "", 0, apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", svc.Name))
}

// isPod reports whether an endpoint is a pod of the namespace with the endpoint's address. A user who may write
// endpoints must not reach arbitrary addresses through the server (K pkg/registry/core/service/storage/storage.go:
// isValidAddress).
func isPod(ctx context.Context, s entry.Server, namespace string, e *discoveryv1.Endpoint) (bool, error) {
	if e.TargetRef == nil || e.TargetRef.Namespace != namespace {
		return false, nil
	}
	p, err := podOf(ctx, s, namespace, e.TargetRef.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && slices.Contains(p.Status.PodIPs, corev1.PodIP{IP: e.Addresses[0]}), err
}

// simulated returns the error 501 for a request that only a real kubelet can serve.
func simulated(what, name string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 501, Reason: "NotImplemented",
		Message: what + " " + name + " is simulated: there is nothing to connect to",
	}}
}
