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
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Config holds the parts and the settings of a Server. Store, Cache, Decoder and Types are required.
type Config struct {
	Parts
	AuthenticationOptions
	// Modes are the authorization modes, of which the first that has an opinion decides (see Modes);
	// default: AlwaysAllow.
	Modes []string
	AdmissionOptions
	// Services are the ranges of addresses and node ports; default: kube-apiserver's.
	Services allocate.Ranges
	Limits
	Documents
	Forwarding
	// DeleteMalformed is the feature gate AllowUnsafeMalformedObjectDeletion. It lets users with the verb
	// unsafe-delete-ignore-read-errors delete objects whose stored values can't be read, and lists with such objects
	// fail. If it is false, such objects are left out of lists, and can't be deleted.
	DeleteMalformed bool
	// CompressWatchLists is the feature gate WatchListCompression: watches that begin with a list are compressed for
	// clients that accept gzip.
	CompressWatchLists bool
}

// Forwarding is where requests for nodes, pods and services are forwarded.
type Forwarding struct {
	// Kubelets are where kubelets are; default: kube-apiserver's types of addresses, and port.
	Kubelets resources.Kubelets
	// Proxy is how they, and other backends, are reached; default: without a certificate.
	Proxy proxy.Options
	// FrontProxy returns the certificate for extension API servers; default: none.
	FrontProxy func() (*tls.Certificate, error)
}

// Parts are the parts of the process that a Server uses.
type Parts struct {
	Store storage.Store
	Cache *cache.Cache
	// Decoder is the one that the cache uses.
	Decoder *storage.Decoder
	Types   *resources.Types
	// Webhooks call the webhooks of admission; default: Clients of their own, which find services in the cache.
	Webhooks *webhook.Clients
	// Audit records requests; nil records none.
	Audit *audit.Log
	// Trail records each removal; default: a new one.
	Trail *trail.Trail
	// Registry gathers this server's metrics; default: a new one.
	Registry *prometheus.Registry
	// Log defaults to slog.Default.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// AuthenticationOptions authenticate the clients of the secure port.
type AuthenticationOptions struct {
	// Proxies are clients that may name the user of a request in headers; nil for none.
	Proxies *authentication.Proxies
	// Certificates, StaticTokens and Accounts authenticate clients; nil ones authenticate none. Accounts signs tokens,
	// too; a nil one does not.
	Certificates *authentication.Certificates
	StaticTokens authentication.Tokens
	Accounts     *authentication.Accounts
	// KeysURL is where others find the keys of service accounts' tokens.
	KeysURL string
	// Anonymous lets clients without credentials be authorized as system:anonymous, where there is an authorization mode
	// other than AlwaysAllow.
	Anonymous bool
}

// AdmissionOptions name admission plugins that are on or off against their default.
type AdmissionOptions struct {
	EnableAdmission, DisableAdmission []string
}

// Limits bound requests and events.
type Limits struct {
	// MaxInFlight bounds the requests that are served at the same time, watches aside: those of the level exempt, which
	// are administrators', and, as many again, all others, which flow schemas and priority levels share. Default 400.
	MaxInFlight int
	// MemoryInFlight bounds the bytes of memory that requests may take while they are decoded, carried out and encoded,
	// as estimated. One user has at most half. Default 1 GiB.
	MemoryInFlight int64
	// EventTTL is how long an event is kept; default one hour.
	EventTTL time.Duration
	// RequestTimeout bounds a get and a write of one object, not a list, watch or deletecollection; default 34 s (0-13).
	RequestTimeout time.Duration
	// MinWatch is the least duration of a watch for which the client names none; the longest is twice as long. Default 30
	// minutes; if it is negative, such watches end at once.
	MinWatch time.Duration
	// GoawayChance is the fraction of requests after which a connection of HTTP/2 is closed, so that clients connect
	// again behind load balancers.
	GoawayChance float64
	// WriteTimeout is how long a client may leave a response or a watch's events unread before it is cut off; default
	// 30 s.
	WriteTimeout time.Duration
}

// Documents are what is served besides objects.
type Documents struct {
	// Version is the response of /version.
	Version Version
	// Address is the server's address in discovery: a host and a port.
	Address string
	// Checks are named health checks (see Check).
	Checks []Check
	// Debug are further handlers by path (the collector's graph). Profiling adds those of profiles.
	Debug     map[string]http.Handler
	Profiling bool
	// Page serves the files of the page at ui.Path.
	Page bool
	// Statusz serves /statusz. Flags are the names and values that /flagz shows; nil does not serve it.
	Statusz bool
	Flags   map[string]string
	// SetVerbosity sets the verbosity of logs for /debug/flags/v, which is served with profiles; nil for none.
	SetVerbosity func(v int)
	// Extensions are the paths below render.RoutePrefix.
	Extensions []render.Route
}

// Defaults of fields of Config, which are kube-apiserver's (AS pkg/server/config.go: NewConfig) except for
// RequestTimeout (0-13).
const (
	DefaultMaxInFlight    = 400
	DefaultRequestTimeout = 34 * time.Second
	DefaultMinWatch       = 30 * time.Minute
	DefaultKubeletPort    = 10250
)

// DefaultAddressTypes are the types of addresses of nodes at which kubelets are reached (K
// cmd/kube-apiserver/app/options/options.go: NewServerRunOptions).
func DefaultAddressTypes() []string {
	return []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}
}

// setDefaults sets the fields that are not set.
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
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
}
