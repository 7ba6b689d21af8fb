package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/internal/checkpoint"
	"github.com/kubecascade/kubecascade/loopback"
)

// selectControllers returns the controllers that the settings enable.
func (c *Config) selectControllers() (on map[string]bool, err error) {
	on, absent, err := controllers.Select(c.Controllers.Enabled)
	if err != nil {
		return nil, err
	}
	if len(absent) > 0 {
		c.Log.Warn("enabled controllers are not available", "controllers", strings.Join(absent, ","))
	}
	on[controllers.Scheduler] = on[controllers.Scheduler] ||
		c.Simulate && !slices.Contains(c.Controllers.Enabled, "-"+controllers.Scheduler)
	return on, nil
}

// client returns a function that makes a client of the process itself.
func (s *Server) client() func(account, manager string) *loopback.Client {
	index := loopback.NewIndex(s.data.cache, s.data.types, s.data.decoder.Root)
	return func(account, manager string) *loopback.Client {
		user := authorization.Loopback
		if account != "" {
			user = authorization.ServiceAccount(metav1.NamespaceSystem, account)
		}
		return &loopback.Client{API: s.api.Loopback(user, manager), Cache: s.data.cache, Index: index}
	}
}

// makeControllers makes the parts of the controllers, and the checkpoints.
func (s *Server) makeControllers(on, gates map[string]bool) {
	c, d := s.config, s.data
	p := &controllers.Process{
		Client: s.client(), Options: c.Controllers, Simulate: c.Simulate, Simulation: c.Simulation, Gates: gates,
		Authority: s.keys, Certificates: s.keys.AuthorityPEM(), Webhooks: d.webhooks, CheckFirst: s.checkFirst,
		CheckTypes: func(p *admissionv1.ValidatingAdmissionPolicy) []admissionv1.ExpressionWarning {
			return apiserver.CheckTypes(d.types, &p.Spec)
		},
		Collector:  func(c *loopback.Client) func(context.Context) { return s.garbage.With(c.API, s.api.Aggregator()) },
		Aggregator: s.api.Aggregator(), Version: KubernetesVersion, Log: s.log,
	}
	s.controllers = controllers.NewSet(d.cache, d.store.Revision)
	s.controllers.Monitor.Clock = d.clock
	s.controllers.Led = p.Parts(on)
	if *c.Controllers.LeaderElect {
		s.controllers.RetryPeriod = c.Controllers.RetryPeriod
	}
	if !c.readOnly() {
		s.controllers.Own = p.ServerParts()
	}
	s.checkpoints = checkpoint.New(checkpoint.Checkpoints{
		Restorer: d.restorer, Refused: c.whyNoCheckpoints(), Life: s.life, Log: s.log,
		StopControllers: s.stopRun, StartControllers: func() { s.newRun(s.run.within) },
		Ahead: d.clock.Ahead, Restored: s.restored, Fail: s.fail,
	})
}

// control is the state of the controllers.
type control struct {
	// controllers has the parts of the enabled controllers and, unless the server is read-only, of kube-apiserver's own
	// controllers. run is their present run.
	controllers *controllers.Set
	run         *controllerRun
	// garbage is nil without the garbage collector.
	garbage     *loopback.GarbageCollector
	checkpoints *checkpoint.Checkpoints
}

// controllerRun is a run of the controllers. A rollback ends it and starts another one, whose controllers have no state
// of the run before.
type controllerRun struct {
	within context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// startControllers starts the controllers, and the goroutine that follows removals by other servers, or reads a
// snapshot.
func (s *Server) startControllers(context.Context) error {
	running, cancel := context.WithCancel(s.controllers.Monitor.With(context.Background()))
	var others sync.WaitGroup
	if d := s.data; s.config.external() {
		removals := &loopback.Removals{Cache: d.cache, Types: d.types, Trail: s.trail, Now: d.clock.Now}
		others.Go(func() { removals.Follow(running) })
	}
	if s.report != nil {
		others.Go(s.warnOfSnapshot)
	}
	s.newRun(running)
	s.addUndo(func() error {
		if s.abandons() {
			cancel()
			return nil
		}
		s.checkpoints.Close()
		cancel()
		ended := make(chan struct{})
		go func() { // outlives this function only if a controller hangs
			s.run.all.Wait()
			others.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(s.config.Shutdown + time.Second):
			s.log.Warn("shutdown timeout: controllers did not finish")
		}
		return nil
	})
	return nil
}

// newRun starts a run of the controllers, unless the server is about to end. Only the start and a rollback call it.
func (s *Server) newRun(within context.Context) {
	if s.life.Err() != nil {
		return
	}
	run, cancel := context.WithCancel(within)
	r := &controllerRun{within: within, cancel: cancel}
	r.all.Go(func() { controllers.Run(run, s.controllers.Own) })
	r.all.Go(func() { s.lead(run) })
	s.run = r
}

// lead runs the controllers whenever this server is the leader, until ctx is done.
func (s *Server) lead(ctx context.Context) {
	if len(s.controllers.Led) == 0 {
		return // controllers of other servers need the lease
	}
	c := &s.config.Controllers
	if !*c.LeaderElect {
		s.controllers.RunLed(ctx)
		return
	}
	candidate := authorization.User{Name: "system:" + controllers.Manager,
		Groups: []string{authorization.GroupAuthenticated}}
	client := &loopback.Client{API: s.api.Loopback(candidate, controllers.Manager)}
	// No other process has the data directory open: a lease in it belongs to a process that has ended.
	s.controllers.Elect(ctx, client, c, !s.config.external(), s.log)
}

// whyNoCheckpoints returns the reason why the server supports no checkpoints; empty if it supports them. A rollback
// must not change data that outlives the server, and the data of a read-only server does not change.
func (c *Config) whyNoCheckpoints() string {
	switch {
	case c.external():
		return "with --etcd-servers others may use the data, too"
	case c.readOnly():
		return "a server that is read-only does not change"
	case c.Dir != "":
		return "with --data-dir the data outlives the server"
	}
	return ""
}

// stopRun ends the run of the controllers and waits for it. It returns false if the server ends before.
func (s *Server) stopRun() bool {
	s.run.cancel()
	ended := make(chan struct{})
	go func() { // outlives this function only if a controller hangs when the server ends
		s.run.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-s.life.Done():
		return false
	}
}

// restored resets the state that is neither stored nor derived from the cache.
func (s *Server) restored(ahead time.Duration) {
	s.data.clock.Restore(ahead)
	s.trail.Reset(s.data.clock.Now())
}
