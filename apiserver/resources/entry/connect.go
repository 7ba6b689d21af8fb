package entry

import (
	"context"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
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
