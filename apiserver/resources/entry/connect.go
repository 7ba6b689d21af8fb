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
	// Namespace and Name are those in the path. A proxied name may have a scheme and a port: "https:name:port".
	Namespace, Name string
	// Options are the parameters in the query.
	Options  runtime.Object
	Kubelets Kubelets
}

// Kubelets is how kubelets are found.
type Kubelets struct {
	// AddressTypes are the types of addresses of a node, the preferred one first.
	AddressTypes []string
	// Port is that of kubelets whose nodes have none.
	Port int
	// Simulated returns the log of a simulated pod's container, and whether it does not grow any more. Nil if there are
	// kubelets.
	Simulated func(p *corev1.Pod, container string, o *corev1.PodLogOptions, now time.Time) (string, bool, error)
}

// Connect returns the backend of a connection.
type Connect func(ctx context.Context, s Server, c *Connection) (*Backend, error)

// Backend is where a connection is forwarded.
type Backend struct {
	// URL is nil for the log of a pod without a node, or of one that is simulated.
	URL *url.URL
	// Kubelet reports whether the server authenticates itself, as to kubelets. Insecure does not verify the certificate
	// of the kubelet. Sockets reports whether the kubelet understands WebSockets like the server.
	Kubelet, Insecure, Sockets bool
	// Public rejects hosts with addresses that are not global: loopback, link-local, multicast.
	Public bool
	// Log is the log of a simulated pod, nil for others. Follow reports whether the log is sent as it grows.
	Log    *Log
	Follow bool
}

// Log is a log so far.
type Log struct {
	Text string
	// Ended reports whether it does not grow any more.
	Ended bool
}
