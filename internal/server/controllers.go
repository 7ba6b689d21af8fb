package server

import (
	"context"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/controllers/election"
	"github.com/kubecascade/kubecascade/loopback"
)

// control is the state of the controllers.
type control struct {
	// controllers has the parts of the enabled controllers, and those of kube-apiserver's with keepFirst; none of the
	// latter if the server is read-only.
	controllers *controllers.Set
	// namespaces is the client that creates the system namespaces (K controlplane/controller/systemnamespaces).
	namespaces *loopback.Client
	// current is the present run, and running the context of all runs.
	current controllerRun
	running context.Context
}

// controllerRun is a run of the controllers. A rollback ends it and starts another one, whose controllers know nothing
// of what was before.
type controllerRun struct {
	mu sync.Mutex // guards what follows
	// cancel tells them to end; nil before there are any.
	cancel context.CancelFunc
	all    *sync.WaitGroup
	// kept is done when the objects of bootstrap.Check shall no longer be kept, and stop ends it. unkept is closed when
	// they are no longer kept; nil if they never are.
	kept   context.Context
	stop   func()
	unkept chan struct{}
}

// startControllers starts the controllers, unless the server is about to end.
func (s *system) startControllers() {
	c := &s.current
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.life.Err() != nil {
		return
	}
	run, cancel := context.WithCancel(s.running)
	c.cancel, c.all = cancel, &sync.WaitGroup{}
	if c.kept, c.stop = context.WithCancel(run); len(s.controllers.Own) > 0 {
		c.unkept = make(chan struct{})
	}
	c.all.Go(func() { controllers.Run(run, s.controllers.Own) })
	c.all.Go(func() { s.lead(run) })
}

// keeping returns the context for keepFirst, and the channel that it closes when it ends.
func (c *controllerRun) keeping() (kept context.Context, unkept chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept, c.unkept
}

// end ends the controllers and waits for them. It returns false if life is done before.
func (c *controllerRun) end(life context.Context) bool {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	cancel()
	ended := make(chan struct{})
	go func() { // outlives end only with a controller that hangs when the server ends
		c.wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-life.Done():
		return false
	}
}

// wait waits until the controllers have ended.
func (c *controllerRun) wait() {
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	all.Wait()
}

// stopKeeping ends the keeping of objects; the channel is closed when it has ended, and nil if they are not kept.
func (c *controllerRun) stopKeeping() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	return c.unkept
}

// lead runs the controllers whenever this server is the leader, until ctx is done.
func (s *system) lead(ctx context.Context) {
	if len(s.controllers.Led) == 0 {
		return // controllers of other servers need the lease
	}
	if !s.c.Elect {
		s.controllers.RunLed(ctx)
		return
	}
	lease := &loopback.Lease{Namespace: "kube-system", Name: controllers.Manager,
		API: s.api.Loopback(
			authorization.User{Name: "system:" + controllers.Manager,
				Groups: []string{authorization.GroupAuthenticated}},
			controllers.Manager,
		)}
	o := s.c.Election
	o.Identity, o.Log = identity(), s.log
	o.Seize = !s.c.external() // no other process has the data directory open; a lease in it belongs to a dead process
	election.New(lease, o).Run(ctx, s.controllers.RunLed)
}

// identity identifies this process among candidates, as in kube-controller-manager.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = controllers.Manager
	}
	return host + "_" + string(uuid.NewUUID())
}
