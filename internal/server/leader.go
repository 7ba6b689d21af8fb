package server

import (
	"context"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/election"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
)

// controllerManager is the program that the controllers belong to in a cluster; managedFields name it, and so does the
// lease.
const controllerManager = "kube-controller-manager"

// lead runs the controllers whenever this server is the leader, until ctx is done.
func (s *system) lead(ctx context.Context) {
	if len(s.controllers) == 0 {
		return // controllers of other servers need the lease
	}
	if !s.c.Elect {
		s.control(ctx)
		return
	}
	lease := &loopback.Lease{Namespace: "kube-system", Name: controllerManager,
		API: s.api.Loopback(
			authentication.User{Name: "system:" + controllerManager, Groups: []string{authentication.GroupAuthenticated}},
			controllerManager,
		)}
	o := s.c.Election
	o.Identity, o.Log = identity(), s.log
	o.Seize = !s.c.external() // no other process has the data directory open; a lease in it belongs to a dead process
	election.New(lease, o).Run(ctx, s.control)
}

// control runs the controllers until ctx is done, and returns when all have ended.
func (s *system) control(ctx context.Context) {
	s.leading.Store(true)
	defer s.leading.Store(false)
	var all sync.WaitGroup
	for name, run := range s.controllers {
		all.Go(func() { run(reconcile.Named(ctx, name)) })
	}
	all.Wait()
}

// identity identifies this process among candidates, as in kube-controller-manager.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = controllerManager
	}
	return host + "_" + string(uuid.NewUUID())
}
