package apiserver

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/proxy"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Config holds the parts and the settings of a Server. Store, Cache, Decoder and Types are required.
type Config struct {
	Parts
	AuthenticationOptions
	// Modes are the authorization modes (see Modes). The first one that has an opinion decides. Default: AlwaysAllow.
	Modes []string
	AdmissionOptions
	// Services are the ranges of service addresses and node ports. Default: those of kube-apiserver.
	Services allocate.Ranges
	Limits
	Documents
	Forwarding
	// DeleteMalformed is the feature gate AllowUnsafeMalformedObjectDeletion. If it is true, users with the verb
	// unsafe-delete-ignore-read-errors can delete objects whose stored values can't be read, and a list with such an
	// object fails. If it is false, lists omit such objects, and they can't be deleted.
	DeleteMalformed bool
	// CompressWatchLists is the feature gate WatchListCompression: a watch that begins with a list is compressed for a
	// client that accepts gzip.
	CompressWatchLists bool
}

// Forwarding configures the forwarding of requests to nodes, pods, services and extension API servers.
type Forwarding struct {
	// Kubelets has the types of node addresses and the port. Default: those of kube-apiserver.
	Kubelets resources.Kubelets
	// Proxy configures the connections. Default: no client certificate.
	Proxy proxy.Options
	// FrontProxy returns the client certificate for extension API servers. Default: none.
	FrontProxy func() (*tls.Certificate, error)
}

// Parts are the parts of the process that a Server uses.
type Parts struct {
	Store storage.Store
	Cache *cache.Cache
	// Decoder is the cache's decoder.
	Decoder *storage.Decoder
	Types   *resources.Types
	// Webhooks call admission webhooks. Default: new Clients, which find services in the cache.
	Webhooks *webhook.Clients
	// Audit records requests; nil records none.
	Audit *audit.Log
	// Trail records each removal of an object. Default: a new one.
	Trail *trail.Trail
	// Faults has the plans of faults to inject. Default: a new Set.
	Faults *faults.Set
	// Registry gathers this server's metrics. Default: a new one.
	Registry *prometheus.Registry
	// Log defaults to slog.Default.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// AuthenticationOptions authenticate the clients of the secure port.
type AuthenticationOptions struct {
	// Proxies authenticates the proxies that may name the user of a request in headers. It may be nil.
	Proxies *authentication.Proxies
	// Certificates, StaticTokens and Accounts authenticate clients. Each may be nil. Accounts also signs tokens.
	Certificates *authentication.Certificates
	StaticTokens authentication.Tokens
	Accounts     *authentication.Accounts
	// KeysURL is the URL at which other servers find the keys that verify service account tokens.
	KeysURL string
	// Anonymous authenticates clients without credentials as system:anonymous, unless Modes include AlwaysAllow.
	Anonymous bool
}

// AdmissionOptions has the names of admission plugins to enable and to disable.
type AdmissionOptions struct {
	EnableAdmission, DisableAdmission []string
}

// Limits bound requests and events.
type Limits struct {
	// MaxInFlight is the number of requests, except watches, that are served at the same time. The level exempt, which
	// serves administrators, has this number of seats. All other levels together have the same number. Default: 400.
	MaxInFlight int
	// MemoryInFlight is the budget, in bytes, of the estimated memory of requests while they are decoded, executed and
	// encoded. One user gets at most half. Default: 1 GiB.
	MemoryInFlight int64
	// EventTTL is the time after which an Event expires. Default: one hour.
	EventTTL time.Duration
	// RequestTimeout limits a get and a write of one object, not list, watch and deletecollection. Default: 34 s
	// (0-13).
	RequestTimeout time.Duration
	// MinWatch is the minimum duration of a watch without timeoutSeconds. The maximum is twice as long. Default: 30
	// minutes. If it is negative, such a watch ends immediately.
	MinWatch time.Duration
	// GoawayChance is the fraction of requests after which the server closes the HTTP/2 connection, so that the client
	// connects again through a load balancer.
	GoawayChance float64
	// WriteTimeout is the time for which a client may leave a response or a watch's events unread. Then the server
	// closes the connection. Default: 30 s.
	WriteTimeout time.Duration
}

// Documents configures the non-resource paths.
type Documents struct {
	// Version is the response of /version.
	Version Version
	// Address is the server's address in discovery: a host and a port.
	Address string
	// Checks are named health checks (see Check).
	Checks []Check
	// Debug are further handlers by path (the collector's graph). Profiling adds the handlers of profiles.
	Debug     map[string]http.Handler
	Profiling bool
	// Page serves the web UI at ui.Path.
	Page bool
	// Statusz serves /statusz. Flags are the names and values at /flagz, which is not served if Flags is nil.
	Statusz bool
	Flags   map[string]string
	// SetVerbosity sets the verbosity of logs. With Profiling it is served at /debug/flags/v. It may be nil.
	SetVerbosity func(v int)
	// Extensions are the routes below render.RoutePrefix. ServeFaults adds the route of Faults.
	Extensions  []render.Route
	ServeFaults bool
}

// Defaults of Config's fields. They are kube-apiserver's (AS pkg/server/config.go: NewConfig), except for
// RequestTimeout (0-13).
const (
	DefaultMaxInFlight    = 400
	DefaultRequestTimeout = 34 * time.Second
	DefaultMinWatch       = 30 * time.Minute
	DefaultKubeletPort    = 10250
)

// DefaultAddressTypes returns the types of node addresses, in order of preference (K
// cmd/kube-apiserver/app/options/options.go: NewServerRunOptions).
func DefaultAddressTypes() []string {
	return []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}
}

// setDefaults sets defaults for the fields that are zero.
func (c *Config) setDefaults() {
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	c.MaxInFlight = cmp.Or(c.MaxInFlight, DefaultMaxInFlight)
	c.MemoryInFlight = cmp.Or(c.MemoryInFlight, 1<<30)
	c.EventTTL = cmp.Or(c.EventTTL, time.Hour)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, DefaultRequestTimeout)
	c.MinWatch = cmp.Or(c.MinWatch, DefaultMinWatch)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	if len(c.Modes) == 0 {
		c.Modes = []string{"AlwaysAllow"}
	}
	if c.Services == (allocate.Ranges{}) {
		c.Services = allocate.Defaults()
	}
	c.Kubelets.Port = cmp.Or(c.Kubelets.Port, DefaultKubeletPort)
	if len(c.Kubelets.AddressTypes) == 0 {
		c.Kubelets.AddressTypes = DefaultAddressTypes()
	}
	if c.Webhooks == nil {
		services := registry.Data{Store: c.Store, Cache: c.Cache, Types: c.Types, Root: c.Decoder.Root}
		c.Webhooks = webhook.NewClients(services.ServiceAddress)
	}
	if c.Profiling {
		all := profiles(c.SetVerbosity)
		maps.Copy(all, c.Debug)
		c.Debug = all
	}
	if c.Trail == nil {
		c.Trail = trail.New(c.Now())
	}
	c.Faults = cmp.Or(c.Faults, faults.New())
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
}
