package election

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// API reads and writes the lease. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	// Lookup returns a copy of the present object, or NotFound.
	Lookup(ctx context.Context, r workload.Resource, key workload.Key) (workload.Object, error)
	// Create creates the lease; AlreadyExists if another candidate was faster.
	Create(ctx context.Context, o workload.Object) (string, error)
	// Update replaces the lease; Conflict if its resourceVersion is stale.
	Update(ctx context.Context, o workload.Object, status bool) error
}

// Options configure a candidate. The times have kube-controller-manager's meanings and must satisfy Duration >
// RenewDeadline > jitter * RetryPeriod.
type Options struct {
	// Lease names the lease.
	Lease workload.Key
	// Identity identifies this process among candidates; default: the host's name and a random UID, as in
	// kube-controller-manager.
	Identity string
	// Duration is the time for which others respect a lease that isn't renewed, in whole seconds.
	Duration time.Duration
	// RenewDeadline is the time for which a leader continues that fails to renew the lease.
	RenewDeadline time.Duration
	// RetryPeriod is the pause between attempts to acquire, and between renewals.
	RetryPeriod time.Duration
	// Seize acquires the lease at the first attempt, from any holder. It requires that no other candidate is
	// running.
	Seize bool
	// Log receives changes of leadership; nil discards them.
	Log *slog.Logger
}

// Candidate competes for the lease.
type Candidate struct {
	api API
	o   Options
	rec record
}

// New returns a candidate that is not running.
func New(api API, o Options) *Candidate {
	if o.Identity == "" {
		host, _ := os.Hostname() // the UID is enough
		o.Identity = host + "_" + string(uuid.NewUUID())
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Candidate{api: api, o: o, rec: record{identity: o.Identity, duration: o.Duration, seize: o.Seize}}
}

// jitter is the factor by which the pause before an attempt to acquire a held lease may grow, so that candidates don't
// synchronize (client-go JitterFactor).
const jitter = 1.2

// errHeld is returned if another candidate holds the lease.
var errHeld = errors.New("the lease is held by another")

// Run competes until ctx is done, and calls lead whenever it has acquired the lease; lead must return soon after its
// context is done. Run may be called once.
func (c *Candidate) Run(ctx context.Context, lead func(context.Context)) {
	var lost time.Time
	for c.acquire(ctx) {
		if lost.IsZero() {
			c.o.Log.Info("became leader", "identity", c.o.Identity)
		} else { // a warning like that of the loss: otherwise a log of warnings would end with the loss
			c.o.Log.Warn("became leader again", "identity", c.o.Identity, "after", time.Since(lost))
		}
		err := c.term(ctx, lead)
		lost = time.Now()
		if ctx.Err() != nil {
			c.release(ctx)
			return
		}
		c.o.Log.Warn("lost leadership", "identity", c.o.Identity, "err", err)
	}
}

// acquire tries until this candidate holds the lease; false means that ctx is done.
func (c *Candidate) acquire(ctx context.Context) bool {
	for {
		err := c.try(ctx, c.o.RenewDeadline)
		if err == nil {
			return true
		}
		if !errors.Is(err, errHeld) && !conflicting(err) && ctx.Err() == nil {
			c.o.Log.Warn("failed to acquire the lease", "err", err)
		}
		if !reconcile.Sleep(ctx, wait.Jitter(c.o.RetryPeriod, jitter)) {
			return false
		}
	}
}

// term leads until the lease is lost or ctx is done; it returns the reason for the loss.
func (c *Candidate) term(ctx context.Context, lead func(context.Context)) error {
	leading, resign := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lead(leading)
	}()
	err := c.hold(ctx)
	resign()
	<-ended
	return err
}

// hold renews the lease until that fails for too long or ctx is done.
func (c *Candidate) hold(ctx context.Context) error {
	renewed := time.Now()
	for reconcile.Sleep(ctx, c.o.RetryPeriod) {
		began := time.Now()
		left := renewed.Add(c.o.RenewDeadline).Sub(began)
		err := c.try(ctx, max(left, 0))
		switch {
		case err == nil:
			renewed = began
		case errors.Is(err, errHeld):
			return err
		case time.Since(renewed) >= c.o.RenewDeadline:
			return fmt.Errorf("not renewed for %v: %w", c.o.RenewDeadline, err)
		case ctx.Err() == nil && !conflicting(err):
			c.o.Log.Warn("failed to renew the lease", "err", err)
		}
	}
	return ctx.Err()
}

// try acquires or renews the lease within limit, or returns the reason why it can't.
func (c *Candidate) try(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l, err := c.lease(ctx)
	if apierrors.IsNotFound(err) {
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.o.Lease.Namespace, Name: c.o.Lease.Name},
			Spec: c.rec.held(nil, time.Now())}
		_, err = c.api.Create(ctx, l)
		return c.written(l, err)
	}
	if err != nil {
		return fmt.Errorf("reading the lease: %w", err)
	}
	held := c.rec.mine()
	c.rec.observe(&l.Spec, time.Now())
	// A leader that finds another holder's name, even an outdated one, has lost the lease.
	if now := time.Now(); held && !c.rec.mine() || !c.rec.mayAcquire(now) {
		return errHeld
	}
	l.Spec = c.rec.held(&l.Spec, time.Now())
	return c.written(l, c.api.Update(ctx, l, false))
}

func (c *Candidate) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	o, err := c.api.Lookup(ctx, workload.Leases, c.o.Lease)
	l, _ := o.(*coordinationv1.Lease)
	return l, err
}

func (c *Candidate) written(l *coordinationv1.Lease, err error) error {
	if err != nil {
		return fmt.Errorf("writing the lease: %w", err)
	}
	c.rec.seize = false
	c.rec.observe(&l.Spec, time.Now())
	return nil
}

// release releases the lease, if this candidate still holds it, so that no other has to wait.
func (c *Candidate) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.RetryPeriod)
	defer cancel()
	err := c.giveBack(ctx)
	for conflicting(err) { // the conflict is with its own renewal, for whose response it did not wait
		err = c.giveBack(ctx)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		c.o.Log.Warn("failed to release the lease", "err", err)
	}
}

func (c *Candidate) giveBack(ctx context.Context) error {
	l, err := c.lease(ctx)
	if err != nil || holder(&l.Spec) != c.o.Identity {
		return err
	}
	l.Spec = c.rec.released(&l.Spec, time.Now())
	return c.api.Update(ctx, l, false)
}

// conflicting reports whether another candidate wrote the lease in the meantime; the next attempt reads its state.
func conflicting(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }
