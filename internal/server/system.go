package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/authorization"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// system has the connected parts.
type system struct {
	c    *Config
	log  *slog.Logger
	data *data
	api  *apiserver.Server
	listeners
	control
	// first are the settings of the objects that every cluster has.
	first bootstrap.Options
	// life is done when the server begins to end; end ends it.
	life context.Context
	end  func()
	// fail ends the server with an error.
	fail func(error)
	// reports has the content of the snapshot that is served; nil without one.
	reports *reports
	// trail has the last removals.
	trail *trail.Trail
	// checkpoints are the states to go back to.
	checkpoints checkpoints
	// garbage is nil without the collector.
	garbage *loopback.GarbageCollector
}

// listeners are the ports and their servers.
type listeners struct {
	ports ports
	// secure and plain are the servers of the two ports; plain is nil without that port.
	secure, plain *http.Server
}

// assemble connects the parts; nothing runs yet.
func assemble(
	c *Config, d *data, keys *pki.Bundle, p ports, events *audit.Log, log *slog.Logger,
) (*system, error) {
	registry := prometheus.NewRegistry()
	s := &system{c: c, log: log, data: d, listeners: listeners{ports: p}, trail: trail.New(d.clock.Now())}
	s.controllers = controllers.NewSet(d.cache, d.store.Revision)
	s.checkpoints = checkpoints{turn: make(chan struct{}, 1), all: map[string]*checkpoint{}}
	s.life, s.end = context.WithCancel(context.Background())
	v := apiVersion(c.Release)
	config := c.API
	s.controllers.Monitor.Clock, config.Now = d.clock, d.clock.Now
	config.Store, config.Cache, config.Decoder = d.plain, d.cache, d.decoder
	config.Types, config.Webhooks = d.types, d.webhooks
	config.Version, config.Registry, config.Log, config.Audit = v, registry, log, events
	config.Address = reachable(p.secure.Addr())
	config.MemoryInFlight = c.memoryInFlight(log)
	gates, err := c.gate(&config, registry, log)
	if err != nil {
		return nil, err
	}
	trusted, err := c.Access.configure(&config, keys, p.secureURL())
	if err != nil {
		return nil, err
	}
	s.first = c.first(p, &trusted)
	on, absent, err := controllers.Select(c.Controllers)
	if err != nil {
		return nil, err
	}
	if len(absent) > 0 {
		log.Warn("enabled controllers are not available", "controllers", strings.Join(absent, ","))
	}
	on[controllers.Scheduler] = on[controllers.Scheduler] ||
		c.Simulate && !slices.Contains(c.Controllers, "-"+controllers.Scheduler)
	if on[controllers.GarbageCollector] {
		s.garbage = loopback.NewGarbageCollector(loopback.GarbageCollectorOptions{
			Cache: d.cache, Root: d.decoder.Root, Workers: c.Workers[controllers.GarbageCollector],
			Events: c.CollectionEvents, Registerer: registry, Log: log,
		})
		config.Debug = s.garbage.Handlers()
	}
	config.Trail, config.Extensions = s.trail, s.extensions(d)
	if s.api, err = apiserver.New(config); err != nil {
		return nil, err
	}
	s.wire(on, gates, keys)
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
	if without := featuregates.Ineffective(c.Gates); len(without) > 0 {
		log.Warn("feature gates without effect", "gates", strings.Join(without, ","))
	}
	metrics.MustRegister(featuregates.Metric(gates))
	// A read-only server can't delete an unreadable object, so its lists omit such objects, with a warning.
	config.DeleteMalformed = gates[featuregates.AllowUnsafeMalformedObjectDeletion] && !c.readOnly()
	config.CompressWatchLists = gates[featuregates.WatchListCompression]
	return gates, nil
}

// client returns a client of the process itself.
func (s *system) client(d *data, index *loopback.Index) func(account, manager string) *loopback.Client {
	return func(account, manager string) *loopback.Client {
		user := authorization.Loopback
		if account != "" {
			user = authorization.ServiceAccount(metav1.NamespaceSystem, account)
		}
		return &loopback.Client{API: s.api.Loopback(user, manager), Cache: d.cache, Index: index}
	}
}

// wire creates the controllers.
func (s *system) wire(on, gates map[string]bool, keys *pki.Bundle) {
	d := s.data
	p := &controllers.Process{
		Client:  s.client(d, loopback.NewIndex(d.cache, d.types, d.decoder.Root)),
		Workers: s.c.Workers, Gates: gates, Authority: keys, Certificates: keys.AuthorityPEM(), Webhooks: d.webhooks,
		CheckTypes: func(p *admissionv1.ValidatingAdmissionPolicy) []admissionv1.ExpressionWarning {
			return apiserver.CheckTypes(d.types, &p.Spec)
		},
		Collector:   func(c *loopback.Client) func(context.Context) { return s.garbage.With(c.API) },
		Unreachable: apiserver.NoNetwork, Autoscaler: s.c.Autoscaler,
		Simulate: s.c.Simulate, Simulation: s.c.Simulation, Version: KubernetesVersion, Log: s.log,
	}
	s.namespaces = p.Client("", apiServer)
	s.controllers.Led = p.Parts(on)
	if s.c.Elect {
		s.controllers.RetryPeriod = s.c.Election.RetryPeriod
	}
	if !s.c.readOnly() {
		first := controllers.Part{Controller: controllers.Controller{Name: apiServer}, Run: s.keepFirst}
		s.controllers.Own = append(p.ServerParts(), first)
	}
}

// begin creates the objects that every cluster has.
func (s *system) begin(ctx context.Context) error {
	if err := controllers.EnsureSystemNamespaces(ctx, s.namespaces, s.log); err != nil {
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

// start creates the system namespaces, starts the controllers and serves. stop stops everything and waits. It only
// completes requests in flight if graceful is set, and it does not wait for what it abandons.
func (s *system) start(ctx context.Context, fail func(error)) (stop func(graceful, abandon bool), err error) {
	if !s.c.readOnly() {
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	run, cancel := context.WithCancel(s.controllers.Monitor.With(context.WithoutCancel(ctx)))
	s.running, s.fail = run, fail
	var others, servers sync.WaitGroup
	s.startControllers()
	if d := s.data; s.c.external() { // other servers may remove objects
		removals := &loopback.Removals{Cache: d.cache, Types: d.types, Trail: s.trail, Now: d.clock.Now}
		others.Go(func() { removals.Follow(run) })
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
	return func(graceful, abandon bool) {
		s.current.stopKeeping()
		s.shutdown(graceful)
		servers.Wait()
		if !abandon { // a rollback ends, and no other begins
			s.checkpoints.turn <- struct{}{}
		}
		cancel()
		if !abandon {
			s.await(&others)
		}
	}, nil
}

// leave begins an orderly end: /readyz fails, and clients are no longer sent to this server.
func (s *system) leave() {
	s.api.BeginShutdown()
	if unkept := s.current.stopKeeping(); unkept != nil {
		s.withdraw(unkept)
	}
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
