package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/election"
	"github.com/kubecascade/kubecascade/loopback"
)

// leadership is the configuration of leader election among servers over one etcd. The flags and the lease are
// kube-controller-manager's.
type leadership struct {
	elect                   bool
	duration, renew, period time.Duration
}

func (l *leadership) flags(f *pflag.FlagSet) {
	f.BoolVar(&l.elect, "leader-elect", false, "run the controllers only while holding the lease kube-system/"+
		controllerManager+
		", so that only one of several servers with the same etcd runs them (default true with --etcd-servers)")
	f.DurationVar(&l.duration, "leader-elect-lease-duration", 15*time.Second,
		"how long other servers wait after the last renewal before they take over the lease")
	f.DurationVar(
		&l.renew, "leader-elect-renew-deadline", 10*time.Second,
		"how long a leader tries to renew its lease before it stops the controllers",
	)
	f.DurationVar(&l.period, "leader-elect-retry-period", 2*time.Second,
		"interval between attempts to acquire or renew the lease")
}

// complete sets the default of --leader-elect: no other process can reach the embedded etcd, so by default there is no
// election on it.
func (l *leadership) complete(explicit, shared bool) {
	if !explicit {
		l.elect = shared
	}
}

// check validates the durations (component-base: ValidateLeaderElectionConfiguration).
func (l *leadership) check() error {
	switch {
	case !l.elect:
		return nil
	case l.period <= 0:
		return fmt.Errorf("--leader-elect-retry-period %v is not greater than 0", l.period)
	case l.renew <= l.period*6/5: // the longest pause between two attempts
		return fmt.Errorf(
			"--leader-elect-renew-deadline %v is not greater than 1.2 times --leader-elect-retry-period %v", l.renew, l.period,
		)
	case l.duration <= l.renew:
		return fmt.Errorf(
			"--leader-elect-lease-duration %v is not greater than --leader-elect-renew-deadline %v", l.duration, l.renew,
		)
	case l.duration%time.Second != 0:
		return fmt.Errorf("--leader-elect-lease-duration %v is not a number of seconds", l.duration)
	}
	return nil
}

// lead runs the controllers whenever this server is the leader, until ctx is done.
func (s *system) lead(ctx context.Context) {
	if len(s.controllers) == 0 {
		return // controllers of other servers need the lease
	}
	if !s.o.leader.elect {
		s.control(ctx)
		return
	}
	lease := &loopback.Lease{Namespace: "kube-system", Name: controllerManager,
		API: s.api.Loopback(
			authentication.User{Name: "system:" + controllerManager, Groups: []string{authentication.GroupAuthenticated}},
			controllerManager,
		)}
	election.New(lease, election.Options{
		Identity: identity(), Duration: s.o.leader.duration, RenewDeadline: s.o.leader.renew, RetryPeriod: s.o.leader.period,
		Log:   s.log,
		Seize: len(s.o.etcd) == 0, // no other process has the data directory open; a lease in it belongs to a dead process
	}).Run(ctx, s.control)
}

// control runs the controllers until ctx is done, and returns when all have ended.
func (s *system) control(ctx context.Context) {
	var all sync.WaitGroup
	for _, run := range s.controllers {
		all.Go(func() { run(ctx) })
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
