package apiserver

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/dynamic"
	"github.com/kubecascade/kubecascade/apiserver/aggregator"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/discovery"
	"github.com/kubecascade/kubecascade/apiserver/endpoints"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/filters"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/proxy"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Server serves the API. Its methods may be called from any goroutine.
type Server struct {
	config   Config
	registry *registry.Registry
	seats    *flowcontrol.Live
	// inFlight is the budget for the memory of open requests and watches, which do not wait for it. memory is the
	// budget for the memory of decoding and encoding.
	inFlight, memory *flowcontrol.Budget
	metrics          *metrics.Metrics
	api              *endpoints.API
	users            *filters.Credentials
	// leaving is closed by leave, when the shutdown begins.
	leaving    chan struct{}
	leave      func()
	aggregator *aggregator.Aggregator
	descriptions
}

// descriptions are the discovery and OpenAPI documents of the types.
type descriptions struct {
	resourceLists *discovery.Service
	openAPI       *openapi.Service
	// documented is the generation of the types in the OpenAPI documents.
	documented struct {
		sync.Mutex
		generation uint64
	}
}

// New returns a server. It is ready to serve when the cache is ready. An error is about the names of admission plugins
// or authorization modes.
func New(c Config) (*Server, error) {
	c.setDefaults()
	codec.LimitCopies()
	s := &Server{config: c, metrics: metrics.New(c.Registry, c.Types), leaving: make(chan struct{})}
	s.leave = sync.OnceFunc(func() { close(s.leaving) })
	s.resourceLists = discovery.New(c.Types, c.Address)
	s.openAPI = openapi.New(c.Version.GitVersion, func() []openapi.Type { return documented(c.Types) })
	s.seats = flowcontrol.NewLive(flowcontrol.New(c.MaxInFlight, c.RequestTimeout/4, c.Registry), c.Cache, c.Log)
	s.inFlight, s.memory = flowcontrol.NewBudget(c.MemoryInFlight), flowcontrol.NewBudget(c.MemoryInFlight)
	flowcontrol.RegisterMemory(c.Registry, s.inFlight, s.memory, c.Cache.EncodedBytes)
	c.Webhooks.Register(c.Registry)
	s.registry = newRegistry(c, s.metrics)
	s.aggregate()
	rules := dynamic.New(dynamic.Config{
		Cache: c.Cache, Types: c.Types, Lookup: s.registry.Lookup(), Objects: s.registry.Objects(),
		Converter: s.registry.Fields.Converter, Registry: c.Registry, Log: c.Log,
		Authorizer: func() authorization.Authorizer { return s.registry.Authorizer },
		Clients:    c.Webhooks,
	})
	s.registry.Dynamic, s.registry.Admission.Observe = rules, rules.Metrics.Step
	s.api = endpoints.New(endpoints.Config{
		Registry: s.registry, Memory: s.memory, Metrics: s.metrics, WriteTimeout: c.WriteTimeout, MinWatch: c.MinWatch,
		DeleteMalformed: c.DeleteMalformed, CompressWatchLists: c.CompressWatchLists,
		Proxy: proxy.New(c.Proxy), Kubelets: c.Kubelets, Faults: c.Faults, Log: c.Log, Now: c.Now,
	})
	s.users = &filters.Credentials{
		Proxies: c.Proxies, Certificates: c.Certificates, StaticTokens: c.StaticTokens, Accounts: c.Accounts,
		Modes: c.Modes, Anonymous: c.Anonymous, Bound: s.registry.Bound, Now: c.Now,
	}
	s.registry.ListAll, s.registry.Observe, s.registry.Authenticate = s.api.ListAll, s.api.Observe, s.users.TokenUser
	s.registry.Inject = s.api.Inject
	if c.ServeFaults {
		s.config.Extensions = append(s.config.Extensions, s.api.FaultRoute())
	}
	chain, granted, err := authorizers(c.Modes, c.Cache, c.Log)
	if err != nil {
		return nil, err
	}
	s.registry.Authorizer = chain
	if c.Accounts != nil {
		s.registry.Tokens = c.Accounts
	}
	return s, choosePlugins(s.registry, c, granted)
}

// newRegistry returns a registry without admission plugins and without the functions that New sets.
func newRegistry(c Config, m *metrics.Metrics) *registry.Registry {
	return &registry.Registry{
		Data: registry.Data{
			Store: c.Store, Cache: c.Cache, Decoder: c.Decoder, Root: c.Decoder.Root, Types: c.Types,
		},
		InProcess: registry.InProcess{
			Timeout: c.RequestTimeout, Audit: c.Audit,
			Agent: "kubecascade/" + c.Version.GitVersion + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")",
		},
		Log: c.Log, Now: c.Now, Ranges: c.Services, EventTTL: c.EventTTL, Trail: c.Trail,
		Corrupt: m.Corrupt, Complaint: rate.Sometimes{First: 10, Interval: time.Second},
		Fields: fieldmanager.New(fieldmanager.Config{Types: c.Types, Custom: customSchemas(c.Types)}),
		Turn:   make(chan struct{}, 1),
	}
}

// choosePlugins sets the admission plugins that the configuration enables. granted is nil without the mode RBAC.
func choosePlugins(r *registry.Registry, c Config, granted *roles) (err error) {
	var absent []string
	all := admission.All(r.Lookup(), r.Dynamic.Plugins()...)
	r.Admission.Chain, absent, err = admission.Choose(all, c.EnableAdmission, c.DisableAdmission)
	if len(absent) > 0 {
		c.Log.Warn("enabled admission plugins are not available", "plugins", strings.Join(absent, ","))
	}
	params := admission.Choice{Name: "PolicyParams", Plugin: admission.ParamsOf(r.Lookup())}
	r.Admission.Chain = append(admission.Chain{params}, r.Admission.Chain...)
	if granted != nil { // after the mutating webhooks: upstream checks escalation where roles are stored
		p := &admission.Escalation{Authorize: r.Authorizer.Authorize, RoleRules: granted.RoleRules, Rules: granted.Rules}
		r.Admission.Chain = append(r.Admission.Chain, admission.Choice{Name: "RBACEscalation", Plugin: p})
	}
	r.Admission.Each = dynamic.NewPluginMetrics(c.Registry, r.Admission.Chain)
	return err
}

// Loopback returns a client for requests of this process.
func (s *Server) Loopback(u authorization.User, manager string) *registry.Loopback {
	return s.registry.Loopback(u, manager)
}

// Authorizer returns the chain of authorizers.
func (s *Server) Authorizer() authorization.Authorizer { return s.registry.Authorizer }

// BeginShutdown makes /readyz fail, so that load balancers send no further requests. The server still serves requests.
func (s *Server) BeginShutdown() { s.leave() }

// CloseWatches ends watches and forwarded requests. Others, for which a graceful shutdown waits, end by themselves.
func (s *Server) CloseWatches() {
	s.leave()
	s.aggregator.Close()
	s.api.CloseWatches()
}

// EnsureRoles calls bootstrap.Roles for this server. Without the mode RBAC it does nothing.
func (s *Server) EnsureRoles(ctx context.Context) error {
	if !slices.Contains(s.config.Modes, "RBAC") {
		return nil
	}
	return bootstrap.Roles(ctx, s.registry)
}

// EnsureFirst calls bootstrap.Objects for this server.
func (s *Server) EnsureFirst(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Objects(ctx, s.registry, o)
}

// CheckFirst calls bootstrap.Check for this server.
func (s *Server) CheckFirst(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Check(ctx, s.registry, o)
}

// Withdraw calls bootstrap.Withdraw for this server.
func (s *Server) Withdraw(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Withdraw(ctx, s.registry, o)
}
