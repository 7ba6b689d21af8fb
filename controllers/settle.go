package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/election"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const (
	// mostSettled is the maximum number of entries in each list of a Settled.
	mostSettled = 100
	// quickRounds is the number of rounds of Settle that follow each other at once. roundPause is the pause between
	// later rounds: a server whose objects are written all the time never settles, and must not use its processor to
	// notice that.
	quickRounds, roundPause = 16, 5 * time.Millisecond
)

// Settled is the result of Settle.
type Settled struct {
	// Revision is the revision at which the controllers had nothing to do. Without success it is that of the last
	// round; 0 for none.
	Revision int64
	// Waits is the work that controllers will do at a later time.
	Waits reconcile.List[reconcile.Wait]
	// Works is the current work of the controllers; empty after success.
	Works reconcile.List[reconcile.Work]
}

// UnsettledError is returned if Settle ended before the controllers had nothing to do.
type UnsettledError struct {
	Settled
	// Cause is the reason why it ended.
	Cause error
}

// Error names some of the current work.
func (e *UnsettledError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not settled at revision %d: %v", e.Revision, e.Cause)
	for i, w := range e.Works.Items {
		if i == 5 {
			fmt.Fprintf(&b, "; and %d more", len(e.Works.Items)-i+e.Works.Omitted)
			break
		}
		fmt.Fprintf(&b, "; %s: %s", w.Controller, w.What)
		if w.Object != (reconcile.Object{}) {
			fmt.Fprintf(&b, ": %s", DescribeObject(w.Object))
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *UnsettledError) Unwrap() error { return e.Cause }

// DescribeObject returns the name of an object for people.
func DescribeObject(o reconcile.Object) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Set has the controllers of a process.
type Set struct {
	// Monitor waits for the parts of controllers.
	Monitor reconcile.Monitor
	// Own has the parts of kube-apiserver's controllers, Led those of all others, which RunLed runs.
	Own, Led []Part
	// RetryPeriod is the retry period of the leader election; 0 if there is none. With an election, RunLed is called
	// only by the leader.
	RetryPeriod time.Duration
	// Cache has the state of a store whose newest revision Revision returns.
	Cache    *cache.Cache
	Revision func(context.Context) (int64, error)

	leading atomic.Bool
	// settling has an element while a call of Settle makes rounds.
	settling chan struct{}
}

// NewSet returns a Set without parts.
func NewSet(c *cache.Cache, revision func(context.Context) (int64, error)) *Set {
	return &Set{Cache: c, Revision: revision, settling: make(chan struct{}, 1)}
}

// RunLed runs Led until ctx is done, and returns when all have ended.
func (s *Set) RunLed(ctx context.Context) {
	s.leading.Store(true)
	defer s.leading.Store(false)
	Run(ctx, s.Led)
}

// Elect calls RunLed whenever this process is the leader, until ctx is done. seize is election.Options.Seize.
func (s *Set) Elect(ctx context.Context, c *loopback.Client, o *Options, seize bool, log *slog.Logger) {
	election.New(c, election.Options{Lease: workload.Key{Namespace: metav1.NamespaceSystem, Name: Manager},
		Duration: o.LeaseDuration, RenewDeadline: o.RenewDeadline, RetryPeriod: o.RetryPeriod, Seize: seize, Log: log,
	}).Run(ctx, s.RunLed)
}

// Leading reports whether RunLed runs.
func (s *Set) Leading() bool { return s.leading.Load() }

// Settle waits until the controllers are idle. Idle means: they have processed everything up to a revision that is at
// least the given one and that of the store at the call; they carry nothing out, and have nothing to do within
// reconcile.Soon; and nothing was written in the meantime. So no object changes after that revision without another
// request, except by the returned Waits. Of several servers with one etcd, Settle waits for the controllers of this
// one. While another server holds the lease of the controllers, Settle does not succeed. The error is an
// *UnsettledError, or that of the store.
func (s *Set) Settle(ctx context.Context, revision int64) (*Settled, error) {
	var out Settled
	err := s.rounds(ctx, revision, &out)
	if err != nil && ctx.Err() != nil {
		err = &UnsettledError{out, context.Cause(ctx)}
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// rounds makes rounds until one succeeds; out is also set if ctx ends. One caller makes rounds at a time. The others
// then need only one round, if nothing is written.
func (s *Set) rounds(ctx context.Context, revision int64, out *Settled) error {
	var marks reconcile.Marks
	defer func() {
		if ctx.Err() != nil {
			s.unsettled(revision, marks, out)
		}
	}()
	if err := s.Cache.Wait(ctx, revision); err != nil {
		return err
	}
	select {
	case s.settling <- struct{}{}:
		defer func() { <-s.settling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for round := 1; ; round++ {
		var quiet bool
		var err error
		if marks, quiet, err = s.round(ctx, out); err != nil || quiet {
			return err
		}
		if round > quickRounds && !reconcile.Sleep(ctx, roundPause) {
			return ctx.Err()
		}
	}
}

// round waits until each part has been idle, one after the other, and reports whether all were idle at one moment.
//
// The proof: each part was idle at the revision "before" when it answered Idle. If its activity is the same in Quiet,
// it was idle at every moment in between. The intervals of all parts have a moment in common. If nothing was written
// between the reads of "before" and "after", no part had an event to process at that moment. So only time, or a
// request, can make a part act.
func (s *Set) round(ctx context.Context, out *Settled) (marks reconcile.Marks, quiet bool, err error) {
	before, err := s.Revision(ctx)
	if err != nil {
		return marks, false, err
	}
	if err = s.Cache.Wait(ctx, before); err != nil {
		return marks, false, err
	}
	history, err := s.Cache.Timeline(before)
	if errors.Is(err, cache.ErrExpired) { // much was written in the meantime
		return marks, false, nil
	} else if err != nil {
		return marks, false, err
	}
	if err = s.Monitor.Await(ctx, Monitored(s.Own)+Monitored(s.Led)); err != nil {
		return marks, false, err
	}
	if marks, err = s.Monitor.Idle(ctx, before); err != nil {
		return marks, false, err
	}
	waits, quiet, err := s.Monitor.Quiet(ctx, marks, mostSettled)
	if err != nil || !quiet {
		return marks, false, err
	}
	after, err := s.Revision(ctx)
	if err != nil {
		return marks, false, err
	}
	if err = s.Cache.Wait(ctx, after); err != nil {
		return marks, false, err
	}
	if written, _, err := history.Poll(); err != nil || len(written) > 0 {
		return marks, false, nil
	}
	out.Revision, out.Waits = after, waits
	if s.elects() { // the lease is an object
		out.Waits.Items = append(out.Waits.Items, reconcile.Wait{Controller: Manager, Object: leaseObject(),
			Until: s.Monitor.Clock.Now().Add(s.RetryPeriod), Why: "the renewal of the lease of the controllers"})
	}
	return marks, true, nil
}

// elects reports whether this server needs the lease to run its controllers.
func (s *Set) elects() bool { return s.RetryPeriod > 0 && len(s.Led) > 0 }

// leaseObject names the lease of the controllers.
func leaseObject() reconcile.Object {
	return reconcile.Object{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Kind: "Lease",
		Namespace: metav1.NamespaceSystem, Name: Manager}
}

// reportTimeout limits the time in which parts must report their work.
const reportTimeout = time.Second

// unsettled sets the current work of the parts.
func (s *Set) unsettled(revision int64, marks reconcile.Marks, out *Settled) {
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	out.Revision = s.Cache.Revision()
	out.Works, out.Waits = s.Monitor.Report(ctx, marks, mostSettled)
	add := func(w reconcile.Work) { out.Works.Items = append(out.Works.Items, w) }
	switch {
	case out.Revision < revision:
		add(reconcile.Work{Controller: Server, What: "the requested revision is not reached"})
	case s.elects() && !s.Leading():
		add(reconcile.Work{Controller: Manager, Object: leaseObject(),
			What: "the controllers run in the server that holds the lease"})
	case len(out.Works.Items) == 0:
		add(reconcile.Work{Controller: Server, What: "objects are written all the time"})
	}
}
