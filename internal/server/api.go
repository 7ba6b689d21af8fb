package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// makeAPI makes the API, the parts of the controllers, and the HTTP servers of the ports; nothing runs yet.
func (s *Server) makeAPI(context.Context) error {
	c, d, metrics := s.config, s.data, prometheus.NewRegistry()
	on, err := c.selectControllers()
	if err != nil {
		return err
	}
	gates, err := featuregates.Resolve(c.Gates)
	if err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if without := featuregates.Ineffective(c.Gates); len(without) > 0 {
		s.log.Warn("feature gates without effect", "gates", strings.Join(without, ","))
	}
	metrics.MustRegister(featuregates.Metric(gates))
	s.trail = trail.New(d.clock.Now())
	config := c.API
	config.Store, config.Cache, config.Decoder = d.plain, d.cache, d.decoder
	config.Types, config.Webhooks = d.types, d.webhooks
	config.Registry, config.Log, config.Now, config.Audit, config.Trail = metrics, s.log, d.clock.Now, s.audit, s.trail
	config.Version, config.Address = apiVersion(c.Release), reachable(s.ports.secure.Addr())
	config.MemoryInFlight = c.memoryInFlight(s.log)
	// A read-only server can't delete an unreadable object, so its lists omit such objects, with a warning.
	config.DeleteMalformed = gates[featuregates.AllowUnsafeMalformedObjectDeletion] && !c.readOnly()
	config.CompressWatchLists = gates[featuregates.WatchListCompression]
	config.Statusz = gates[featuregates.ComponentStatusz]
	if !gates[featuregates.ComponentFlagz] {
		config.Flags = nil
	}
	trust, err := config.SetAccess(&c.Access, s.keys, s.ports.secureURL())
	if err != nil {
		return err
	}
	if c.Simulate {
		config.Kubelets.Simulated = simulation.Log
	}
	s.first = c.first(&s.ports, &trust)
	if on[controllers.GarbageCollector] {
		s.garbage = loopback.NewGarbageCollector(loopback.CollectorConfig{
			Timeline: d.cache, Root: d.decoder.Root, Workers: c.Controllers.Workers[controllers.GarbageCollector],
			Events: c.Controllers.CollectionEvents, Registerer: metrics, Log: s.log,
		})
		config.Debug = s.garbage.Handlers()
	}
	config.Extensions = s.extensions()
	if s.api, err = apiserver.New(config); err != nil {
		return err
	}
	s.makeControllers(on, gates)
	return s.makeServers(&trust)
}
