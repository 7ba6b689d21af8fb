package apiserver

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/discovery"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/turns"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/past"
)

// Config is what a Server is made of. Fields without a comment on a default are needed.
type Config struct {
	Store storage.Store
	Cache *cache.Cache
	// Decoder is the one that the cache uses.
	Decoder *storage.Decoder
	Types   *resources.Types
	// Services is what services are given addresses and node ports of; default: kube-apiserver's.
	Services allocate.Ranges
	// EnableAdmission and DisableAdmission name plugins that are on or off against their default.
	EnableAdmission, DisableAdmission []string
	// Certificates, StaticTokens and Accounts are what clients of the secure port are known by; nil knows
	// nobody. Accounts signs tokens, too; nil refuses to.
	Certificates *auth.Certificates
	StaticTokens auth.Tokens
	Accounts     *auth.Accounts
	// KeysURL is where others find the keys of service accounts' tokens.
	KeysURL string
	// Modes are the authorization modes, of which the first that has an opinion decides (see Modes);
	// default: AlwaysAllow.
	Modes []string
	// Anonymous lets clients without credentials on the secure port be judged as system:anonymous, where
	// there is an authorization mode that judges.
	Anonymous bool
	// Version is what /version answers.
	Version Version
	// MaxInFlight bounds the requests that are served at the same time, watches aside: those of the level exempt, which
	// are administrators', and, as many again, all others, which flow schemas and priority levels share. Default 400.
	MaxInFlight int
	// MemoryInFlight bounds the bytes of memory that requests may take while they are decoded, carried out and encoded,
	// as estimated, besides their bodies. Default 1 GiB.
	MemoryInFlight int64
	// EventTTL is how long an event is kept; default one hour.
	EventTTL time.Duration
	// RequestTimeout bounds a write; default 34 s (0-13).
	RequestTimeout time.Duration
	// WriteTimeout is how long a client may leave an answer or a watch's events unread before it is
	// cut off; default 30 s.
	WriteTimeout time.Duration
	// Discovery and OpenAPI documents.
	Discovery *discovery.Service
	OpenAPI   *openapi.Service
	// Checks are named health checks (see Check).
	Checks []Check
	// Debug are further handlers by path (the collector's graph).
	Debug map[string]http.Handler
	// DeleteMalformed lets users with the verb unsafe-delete-ignore-read-errors delete objects whose stored values
	// can't be read, and has lists fail that would have to show one. It is kube-apiserver's feature gate
	// AllowUnsafeMalformedObjectDeletion; default false, as there: such objects are left out of lists, and stay.
	DeleteMalformed bool
	// Registry gathers this server's metrics; default: a new one.
	Registry *prometheus.Registry
	// Log defaults to slog.Default.
	Log *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Server serves the API. Its methods may be called from any goroutine.
type Server struct {
	registry *registry.Registry
	config   Config
	log      *slog.Logger
	now      func() time.Time
	metrics  *metrics.Metrics
	// documented is the generation of types that OpenAPI documents were last asked of.
	documented struct {
		sync.Mutex
		generation uint64
	}
	intake exchange.Intake
	// unread is what answers hold that clients leave unread, and open watches.
	unread pool.Pools
	memory *budget.Budget
	flow   *flowcontrol.Controller
	flows  *flowcontrol.Live
	// connections are those of listeners that Listen has made.
	connections *connections.Table
	// long is for long work (see inTurn), by whom requests are counted for. short is for what comes before a request
	// has its seat (see takeTurn), by the owners of connections.
	long  *turns.Turns[string]
	short *turns.Turns[connections.Owner]
	ways  ways
	// crowds count watches.
	crowds crowds
	// closing is closed, by close, when the server shuts down: watches end.
	closing chan struct{}
	// sockets is held for reading by each watch over a WebSocket, as net/http doesn't know these
	// connections any more and waits for none of them.
	sockets sync.RWMutex
	close   func()
}

// setDefaults fills in what is not said.
func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = 400
	}
	if c.MemoryInFlight == 0 {
		c.MemoryInFlight = defaultMemory
	}
	if c.EventTTL == 0 {
		c.EventTTL = time.Hour
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 34 * time.Second
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if len(c.Modes) == 0 {
		c.Modes = []string{"AlwaysAllow"}
	}
	if c.Services == (allocate.Ranges{}) {
		c.Services = allocate.Defaults()
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
}

// New returns a server that is ready to serve once the cache is. The error is about the names of
// admission plugins or authorization modes.
func New(c Config) (*Server, error) {
	c.setDefaults()
	counts := metrics.New(c.Registry, c.Types)
	s := &Server{config: c, log: c.Log, now: c.Now, metrics: counts, closing: make(chan struct{}), registry: &registry.Registry{
		Store: c.Store, Cache: c.Cache, Decoder: c.Decoder, Root: c.Decoder.Root, Types: c.Types, Log: c.Log, Now: c.Now,
		Ranges: c.Services, Accounts: c.Accounts, EventTTL: c.EventTTL, Timeout: c.RequestTimeout,
		Corrupt: counts.Corrupt, Complaint: rate.Sometimes{First: 10, Interval: time.Second},
		Fields: apply.New(apply.Config{Types: c.Types, Custom: customSchemas(c.Types)}),
		Turn:   make(chan struct{}, 1),
	}}
	s.registry.ListAll, s.registry.Observe, s.registry.Authenticate = s.listUnshown, s.observed, s.tokenUser
	s.registry.Past = past.New(c.Store, c.Decoder, past.Options{Ahead: registry.Ahead(c.Cache, s.registry.Root), Known: registry.Known(c.Cache)})
	metrics.RegisterPast(c.Registry, s.registry.Past)
	s.memory = budget.New(c.MemoryInFlight, runtime.GOMAXPROCS(0))
	half := max(1, runtime.GOMAXPROCS(0)/2)
	s.short = turns.New[connections.Owner](placesToBegin(), half, maxBegun)
	s.connections = connections.New(c.MemoryInFlight/2, half, s.short)
	metrics.RegisterMemory(c.Registry, s.memory, &s.unread, s.connections)
	bodies := min(exchange.MaxIntake, c.MemoryInFlight/2)
	s.intake.Limit(bodies)
	s.unread.Limit(c.MemoryInFlight / 2)
	s.flow = flowcontrol.New(c.MaxInFlight, c.RequestTimeout/4, c.Registry)
	s.long = turns.New[string](half, 0, 0)
	s.flows = flowcontrol.NewLive(s.flow, c.Cache, c.Log)
	s.close = sync.OnceFunc(func() { close(s.closing) })
	var err error
	if s.registry.Authorizer, s.registry.Roles, err = s.authorizers(c.Modes); err != nil {
		return nil, err
	}
	var absent []string
	s.registry.Admission, absent, err = admission.Choose(s.registry.Plugins(), c.EnableAdmission, c.DisableAdmission)
	if len(absent) > 0 {
		s.log.Warn("enabled admission plugins are not available", "plugins", strings.Join(absent, ","))
	}
	if s.registry.Roles != nil {
		s.registry.Admission = append(s.registry.Admission, s.registry.Escalation())
	}
	return s, err
}

// Loopback is for requests of the process's own.
func (s *Server) Loopback(u auth.User, manager string) *registry.Loopback {
	return s.registry.Loopback(u, manager)
}

// Listen returns a listener whose connections count (see package connections): what clients keep that have sent no
// whole request, or have a connection only, is bounded. Connections of other listeners are not.
func (s *Server) Listen(l net.Listener) net.Listener { return s.connections.Listen(l) }

// ListenTLS is Listen for connections that speak TLS.
func (s *Server) ListenTLS(l net.Listener, config *tls.Config) net.Listener {
	return s.connections.ListenTLS(l, config, s.log)
}

// CloseWatches ends every watch, so that a graceful shutdown has nothing to wait for but requests
// that end by themselves.
func (s *Server) CloseWatches() {
	s.close()
	s.sockets.Lock() // until those over WebSockets have said so
	//lint:ignore SA2001 nothing is to be done but wait
	s.sockets.Unlock()
}

// listUnshown is list of what isn't shown to anyone.
func (s *Server) listUnshown(ctx context.Context, t registry.Target, o *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error) {
	return s.list(ctx, t, o, &render.Rendering{Resource: t.Resource, Format: render.Format{Media: codec.MediaJSON, As: "PartialObjectMetadataList"}})
}

// observed counts a request that the process has made itself.
func (s *Server) observed(t registry.Target, verb string, err error, took time.Duration, panicked bool) {
	code := http.StatusOK
	if err != nil {
		code = int(status.Of(err).Code)
	}
	if panicked {
		s.metrics.Panics.Inc()
	}
	s.metrics.Answered(exchange.LabelOf(t, verb), code, 0, took)
}
