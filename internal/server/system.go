package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/discovery"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers/apiservice"
	"github.com/kubecascade/kubecascade/controllers/crd"
	"github.com/kubecascade/kubecascade/controllers/fairness"
	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/controllers/quota"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/internal/ownership"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/trail"
)

// system has the connected parts.
type system struct {
	c     *Config
	log   *slog.Logger
	ports ports
	api   *apiserver.Server
	// secure and plain are the servers of the two ports; plain is nil without that port.
	secure, plain *http.Server
	// first says what the objects that every cluster has contain.
	first bootstrap.Options
	// leave is the beginning of an orderly end: /readyz fails, and others are no longer told to connect to this server.
	leave    func()
	defaults *loopback.Namespaces
	crds     *crd.Controller
	services *apiservice.Controller
	fairness *fairness.Controller
	// monitor waits for the loops of controllers, and what is like them: own are those of controllers that are a part of
	// kube-apiserver, loops those of the others, which run while leading is true.
	monitor    reconcile.Monitor
	own, loops int
	leading    atomic.Bool
	// ownership answers tree, why and preview.
	ownership *ownership.Service
	data      *data
	// life is done when the server begins to end; end ends it.
	life context.Context
	end  func()
	// settling is full while a call of settle makes rounds.
	settling chan struct{}
	// gates are all feature gates.
	gates map[string]bool
	// reports says what is in the snapshot that is served; nil without one.
	reports *reports
	// trail remembers removals.
	trail *trail.Trail
	// checkpoints are the states to go back to.
	checkpoints checkpoints
	// current is the run of the controllers, with the context that running has for all of them. fail ends the server.
	current controllerRun
	running context.Context
	fail    func(error)
	// removals tell the trail what other servers remove; nil if there can be none.
	removals *loopback.Removals
	// garbage is nil without the collector.
	garbage *collection
	// controllers are the enabled ones by name; each runs until its context is done, and may be run again.
	controllers map[string]func(context.Context)
}

// assemble connects the parts; nothing runs yet.
func assemble(
	c *Config, d *data, keys *pki.Bundle, p ports, events *audit.Log, log *slog.Logger,
) (*system, error) {
	registry := prometheus.NewRegistry()
	s := &system{c: c, log: log, ports: p, controllers: map[string]func(context.Context){},
		trail: trail.New(d.clock.Now()), data: d, settling: make(chan struct{}, 1)}
	s.checkpoints = checkpoints{turn: make(chan struct{}, 1), all: map[string]*checkpoint{}}
	s.life, s.end = context.WithCancel(context.Background())
	v := apiVersion(c.Release)
	config := c.API
	s.monitor.Clock, config.Now = d.clock, d.clock.Now
	config.Store, config.Cache, config.Decoder = d.plain, d.cache, d.decoder
	config.Types, config.Webhooks = d.types, d.webhooks
	config.Version, config.Registry, config.Log, config.Audit = v, registry, log, events
	config.Discovery = discovery.New(d.types, reachable(p.secure.Addr()))
	config.OpenAPI = openapi.New(v.GitVersion, func() []openapi.Type { return apiserver.Documented(d.types) })
	config.MemoryInFlight = c.memoryInFlight(log)
	var err error
	if s.gates, err = c.gate(&config, registry, log); err != nil {
		return nil, err
	}
	trusted, err := c.Access.configure(&config, keys, p.secureURL())
	if err != nil {
		return nil, err
	}
	s.first = c.first(p, &trusted)
	on, absent, err := controller.Select(c.Controllers)
	if err != nil {
		return nil, err
	}
	if len(absent) > 0 {
		log.Warn("enabled controllers are not available", "controllers", strings.Join(absent, ","))
	}
	var garbage *collection
	if on[controller.GarbageCollector] {
		garbage, config.Debug = newCollection(c.workers(controller.GarbageCollector), d, registry, log)
		garbage.config.Events = c.CollectionEvents
	}
	if c.Profiling {
		all := profiles()
		maps.Copy(all, config.Debug)
		config.Debug = all
	}
	config.Trail, config.Extensions = s.trail, s.extensions(d)
	if s.api, err = apiserver.New(config); err != nil {
		return nil, err
	}
	s.wireOwn(d)
	if on[controller.GarbageCollector] {
		garbage.connect(s.api)
		s.garbage = garbage
		s.controllers[controller.GarbageCollector] = garbage.run
	}
	s.wire(on, d, keys)
	secure := c.TLS
	secure.Clients = trusted.all()
	return s, s.makeServers(keys, secure)
}

// makeServers makes the HTTP servers of the ports; they do not serve yet.
func (s *system) makeServers(keys *pki.Bundle, secure pki.TLSOptions) (err error) {
	s.secure = newHTTPServer(s.api.Handler(), s.log)
	s.secure.ConnState = s.ports.secure.observe
	if s.secure.TLSConfig, err = keys.TLS(secure); err != nil {
		return fmt.Errorf("--tls-sni-cert-key: %w", err)
	}
	if s.ports.insecure != nil {
		s.plain = newHTTPServer(s.api.Insecure(), s.log)
	}
	return nil
}

// gate applies the feature gates to the settings of the API, and to the metrics, and returns them.
func (c *Config) gate(
	config *apiserver.Config, metrics *prometheus.Registry, log *slog.Logger,
) (map[string]bool, error) {
	gates, err := c.featureGates()
	if err != nil {
		return nil, err
	}
	c.warnOfGates(log)
	metrics.MustRegister(enabled(gates))
	// A read-only server can't delete an unreadable object, so its lists omit such objects, with a warning.
	config.DeleteMalformed = gates[featuregates.AllowUnsafeMalformedObjectDeletion] && !c.readOnly()
	config.CompressWatchLists = gates[featuregates.WatchListCompression]
	return gates, nil
}

// wireOwn creates the controllers that are a part of kube-apiserver, and the client that creates the system namespaces.
func (s *system) wireOwn(d *data) {
	api := s.api.Loopback(authentication.Loopback, "kube-apiserver")
	s.crds = crd.New(&loopback.CRDs{API: api, Cache: d.cache, Webhooks: d.webhooks}, s.log)
	s.services = apiservice.New(&loopback.APIServices{API: api, Cache: d.cache}, s.log)
	if !s.c.readOnly() {
		s.own = 6 // with two of fairness, the system namespaces, and keepFirst
	}
	if s.c.external() {
		s.removals = &loopback.Removals{Cache: d.cache, Types: d.types, Trail: s.trail, Now: d.clock.Now}
	}
	s.fairness = fairness.New(&loopback.Fairness{
		Producer: s.api.Loopback(authentication.Loopback, fairness.Producer),
		Consumer: s.api.Loopback(authentication.Loopback, fairness.Consumer), Cache: d.cache,
	}, s.log)
	s.defaults = &loopback.Namespaces{API: api, Cache: d.cache} // K controlplane/controller/systemnamespaces
}

// wire creates the enabled controllers, except the garbage collector.
func (s *system) wire(on map[string]bool, d *data, keys *pki.Bundle) {
	if on[controller.Namespaces] {
		adapter := &loopback.Namespaces{
			API:   s.api.Loopback(authentication.ServiceAccount("kube-system", "namespace-controller"), controllerManager),
			Cache: d.cache,
		}
		o := namespace.Options{Workers: s.c.workers(controller.Namespaces), Log: s.log}
		s.controllers[controller.Namespaces] = namespace.New(adapter, o).Run
	}
	if on[controller.ResourceQuotas] {
		adapter := &loopback.Quotas{
			API:   s.api.Loopback(authentication.ServiceAccount("kube-system", "resourcequota-controller"), controllerManager),
			Cache: d.cache,
		}
		o := quota.Options{Workers: s.c.workers(controller.ResourceQuotas), Log: s.log}
		s.controllers[controller.ResourceQuotas] = quota.New(adapter, o).Run
	}
	if on[controller.Roles] {
		s.controllers[controller.Roles] = aggregateRoles(s.api, d, s.log)
	}
	if on[controller.Policies] {
		s.controllers[controller.Policies] = checkPolicies(s.api, d, s.log)
	}
	if on[controller.Migrations] {
		s.controllers[controller.Migrations] = migrate(s.api, d, s.log)
	}
	for name, run := range protectors(s.api, d, s.log) {
		if on[name] {
			s.controllers[name] = run
		}
	}
	s.loops = len(s.controllers)
	if on[controller.Claims] && s.gates[featuregates.PersistentVolumeClaimUnusedSinceTime] {
		s.controllers[controller.Claims] = together(s.controllers[controller.Claims], unusedClaims(s.api, d, s.log))
		s.loops++
	}
	run, loops := workers(s.c, s.gates, on, s.api, d, keys, s.log)
	maps.Copy(s.controllers, run)
	s.loops += loops
	for name, run := range fixtures(s.api, d, keys, s.log) {
		if on[name] {
			s.controllers[name] = run
			s.loops++
		}
	}
}

// begin creates the objects that every cluster has.
func (s *system) begin(ctx context.Context) error {
	if err := namespace.EnsureDefaults(ctx, s.defaults, s.log); err != nil {
		return fmt.Errorf("creating the system namespaces: %w", err)
	}
	if err := s.api.EnsureRoles(ctx); err != nil {
		return err
	}
	if err := s.api.EnsureFirst(ctx, s.first); err != nil {
		return err
	}
	return s.seed(ctx)
}

// runOwn runs the controllers that are a part of kube-apiserver until ctx is done. unkept is closed when the objects of
// bootstrap.Check are no longer kept, which stopKeeping requests.
func (s *system) runOwn(ctx context.Context, controllers *sync.WaitGroup) (stopKeeping func(), unkept chan struct{}) {
	controllers.Go(func() { namespace.Defaults(reconcile.Named(ctx, "system-namespaces-controller"), s.defaults, s.log) })
	kept, stopKeeping := context.WithCancel(ctx)
	unkept = make(chan struct{})
	controllers.Go(func() {
		defer close(unkept)
		s.keepFirst(reconcile.Named(kept, apiServer))
	})
	controllers.Go(func() { s.crds.Run(reconcile.Named(ctx, "customresourcedefinition-controller")) })
	controllers.Go(func() { s.services.Run(reconcile.Named(ctx, "apiservice-controller")) })
	controllers.Go(func() { s.fairness.Run(reconcile.Named(ctx, "priority-and-fairness-controller")) })
	return stopKeeping, unkept
}

// start creates the system namespaces, starts the controllers and serves. stop stops everything and waits. It only
// completes requests in flight if it is told to be graceful, and it does not wait for what it abandons.
func (s *system) start(ctx context.Context, fail func(error)) (stop func(graceful, abandon bool), err error) {
	if !s.c.readOnly() {
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	run, cancel := context.WithCancel(s.monitor.With(context.WithoutCancel(ctx)))
	s.running, s.fail = run, fail
	var others, servers sync.WaitGroup
	s.startControllers()
	if s.removals != nil {
		others.Go(func() { s.removals.Follow(run) })
	}
	if s.reports != nil {
		others.Go(func() { s.reports.warn(s.log) })
	}
	report := func(err error) {
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serving: %w", err))
		}
	}
	servers.Go(func() { report(s.secure.ServeTLS(s.ports.secure, "", "")) })
	if s.plain != nil {
		servers.Go(func() { report(s.plain.Serve(s.ports.insecure)) })
	}
	s.leave = func() {
		s.api.BeginShutdown()
		if unkept := s.current.stopKeeping(); unkept != nil {
			s.withdraw(unkept)
		}
	}
	return func(graceful, abandon bool) {
		s.current.stopKeeping()
		s.shutdown(graceful)
		servers.Wait()
		if !abandon { // a rollback ends, and no other begins
			s.checkpoints.turn <- struct{}{}
		}
		s.ownership.Close()
		cancel()
		if !abandon {
			s.await(&others)
		}
	}, nil
}

// await waits for the controllers and others to end, up to the shutdown timeout.
func (s *system) await(others *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() { // outlives await only with a controller that hangs
		s.current.wait()
		others.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(s.c.Shutdown + time.Second):
		s.log.Warn("shutdown timeout: controllers did not finish")
	}
}

// shutdown ends watches, and completes requests in flight, up to the shutdown timeout.
func (s *system) shutdown(graceful bool) {
	s.api.CloseWatches()
	s.ports.secure.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), s.c.Shutdown)
	defer cancel()
	if !graceful {
		cancel()
	}
	start := time.Now()
	var wg sync.WaitGroup
	for _, server := range []*http.Server{s.secure, s.plain} {
		if server == nil {
			continue
		}
		wg.Go(func() {
			if err := server.Shutdown(ctx); err != nil {
				s.log.Warn("shutdown timeout: active requests were canceled", "err", err, "after", time.Since(start))
				_ = server.Close() // only errors of closing connections
			}
		})
	}
	wg.Wait()
}
