package election

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// memory is a lease in memory. Tests change it, and make its requests fail.
type memory struct {
	mu     sync.Mutex // guards all that follows
	lease  *coordinationv1.Lease
	writes int
	broken error
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (m *memory) Lookup(context.Context, workload.Resource, workload.Key) (workload.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.broken != nil:
		return nil, m.broken
	case m.lease == nil:
		return nil, apierrors.NewNotFound(leases, "lease")
	}
	return m.lease.DeepCopy(), nil
}

func (m *memory) Create(_ context.Context, o workload.Object) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.broken != nil:
		return "", m.broken
	case m.lease != nil:
		return "", apierrors.NewAlreadyExists(leases, "lease")
	}
	m.write(o.(*coordinationv1.Lease))
	return o.GetName(), nil
}

func (m *memory) Update(_ context.Context, o workload.Object, _ bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.broken != nil:
		return m.broken
	case m.lease == nil:
		return apierrors.NewNotFound(leases, "lease")
	case m.lease.ResourceVersion != o.GetResourceVersion():
		return apierrors.NewConflict(leases, "lease", errors.New("it was written"))
	}
	m.write(o.(*coordinationv1.Lease))
	return nil
}

func (m *memory) write(l *coordinationv1.Lease) {
	m.writes++
	m.lease = l.DeepCopy()
	m.lease.ResourceVersion = strconv.Itoa(m.writes)
}

// set writes as another program would.
func (m *memory) set(spec coordinationv1.LeaseSpec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write(&coordinationv1.Lease{Spec: spec})
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

func (m *memory) spec() coordinationv1.LeaseSpec {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lease.Spec
}

func heldBy(name string, at time.Time) coordinationv1.LeaseSpec {
	seconds, transitions, t := int32(15), int32(4), metav1.NewMicroTime(at)
	return coordinationv1.LeaseSpec{
		HolderIdentity: &name, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions, RenewTime: &t, AcquireTime: &t,
	}
}

// contender is a candidate under test.
type contender struct {
	mu      sync.Mutex // guards leading
	leading bool
	stop    context.CancelFunc
	done    chan struct{}
}

func (c *contender) leads() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leading
}

func (c *contender) end() {
	c.stop()
	<-c.done
}

func contend(t *testing.T, m API, name string, seize bool) *contender {
	ctx, stop := context.WithCancel(t.Context())
	c := &contender{stop: stop, done: make(chan struct{})}
	set := func(v bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leading = v
	}
	go func() {
		defer close(c.done)
		New(m, Options{
			Identity: name, Duration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Seize: seize,
		}).
			Run(ctx, func(ctx context.Context) {
				set(true)
				<-ctx.Done()
				set(false)
			})
	}()
	synctest.Wait()
	return c
}

// pass lets the time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestFirstLeadsAtOnceAndHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		a := contend(t, m, "a", false)
		b := contend(t, m, "b", false)
		if !a.leads() || b.leads() {
			t.Fatal("the first candidate doesn't lead alone")
		}
		began := m.spec().AcquireTime.Time
		pass(time.Minute)
		if !a.leads() || b.leads() {
			t.Fatal("the leader changed although it renews")
		}
		s := m.spec()
		if age := time.Since(s.RenewTime.Time); age > 2*time.Second || !s.AcquireTime.Time.Equal(began) {
			t.Errorf("renewed %v ago, acquired at %v, not %v", age, s.AcquireTime, began)
		}
		a.end()
		if a.leads() || *m.spec().HolderIdentity != "" || *m.spec().LeaseDurationSeconds != 1 {
			t.Errorf("the lease wasn't given back: %v", m.spec())
		}
		pass(5 * time.Second)
		if !b.leads() || *m.spec().HolderIdentity != "b" || *m.spec().LeaseTransitions != 1 {
			t.Errorf("the other one doesn't lead: %v", m.spec())
		}
		b.end()
	})
}

func TestAbandonedLeaseIsTakenOver(t *testing.T) {
	for _, test := range []struct {
		name  string
		seize bool
		// after is the time when the candidate may and before when it must lead.
		after, before time.Duration
	}{{"honoured", false, 14 * time.Second, 20 * time.Second}, {"seized", true, 0, 0}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				m.set(heldBy("dead", time.Now().Add(-time.Hour))) // another clock: it counts from when it is seen
				c := contend(t, m, "a", test.seize)
				pass(test.after)
				if early := test.after > 0 && c.leads(); early {
					t.Fatal("it leads while the lease may still be another's")
				}
				pass(test.before - test.after)
				if !c.leads() {
					t.Fatal("it doesn't lead")
				}
				if n := *m.spec().LeaseTransitions; n != 5 {
					t.Errorf("%d transitions, want 5", n)
				}
				c.end()
			})
		})
	}
}

// TestLeaderStopsWhenAnotherHoldsTheLease: a leader that finds another holder in the lease stops, even one that could
// seize it at first.
func TestLeaderStopsWhenAnotherHoldsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		c := contend(t, m, "a", true)
		m.set(heldBy("usurper", time.Now()))
		pass(2 * time.Second)
		if c.leads() {
			t.Fatal("it leads with another's lease")
		}
		pass(25 * time.Second)
		if !c.leads() {
			t.Error("it doesn't lead again when that lease has run out")
		}
		c.end()
	})
}

func TestLeaderStopsWhenServerIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		c := contend(t, m, "a", false)
		m.fail(errors.New("no quorum"))
		pass(7 * time.Second)
		if !c.leads() {
			t.Fatal("it gave up before the deadline")
		}
		pass(5 * time.Second)
		if c.leads() {
			t.Fatal("it leads on beyond the deadline")
		}
		m.fail(nil)
		pass(5 * time.Second)
		if !c.leads() {
			t.Error("it doesn't lead again")
		}
		m.fail(errors.New("no quorum"))
		c.end() // does not hang
	})
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestLeadingAgainIsLogged: a log of warnings shows that the lease was lost, and that this server has it again.
func TestLeadingAgainIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		m := &memory{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			New(m, Options{Identity: "a", Duration: 15 * time.Second,
				RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))}).Run(
				ctx, func(ctx context.Context) { <-ctx.Done() },
			)
		}()
		synctest.Wait()
		if log.String() != "" {
			t.Errorf("the first term is logged: %s", log)
		}
		m.set(heldBy("usurper", time.Now()))
		pass(2 * time.Second)
		if logged := log.String(); !strings.Contains(logged, `msg="lost leadership"`) ||
			strings.Contains(logged, "became leader again") {
			t.Errorf("after the loss: %s", logged)
		}
		pass(25 * time.Second)
		if logged := log.String(); strings.Count(logged, `msg="became leader again" identity=a after=`) != 1 {
			t.Errorf("after the second term began: %s", logged)
		}
		cancel()
		<-ended
	})
}

func TestRecordHasHolderTimesAndTransitions(t *testing.T) {
	now := time.Unix(1000, 0)
	r := record{identity: "me", duration: 15 * time.Second}
	first := r.held(nil, now)
	later := now.Add(time.Second)
	renewed := r.held(&first, later)
	other := heldBy("other", now)
	taken := r.held(&other, later)
	type view struct {
		Holder            string
		Acquired, Renewed int64
		Transitions       int32
	}
	look := func(s coordinationv1.LeaseSpec) view {
		return view{holder(&s), s.AcquireTime.Unix(), s.RenewTime.Unix(), *s.LeaseTransitions}
	}
	want := []view{{"me", 1000, 1000, 0}, {"me", 1000, 1001, 0}, {"me", 1001, 1001, 5}, {"", 1001, 1001, 0}}
	got := []view{look(first), look(renewed), look(taken), look(r.released(&renewed, later))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// overtaken executes one more renewal before the lease is released: one for whose response the candidate did not wait.
type overtaken struct {
	*memory
	renewed bool
}

func (o *overtaken) Update(ctx context.Context, l workload.Object, status bool) error {
	if holder(&l.(*coordinationv1.Lease).Spec) == "" && !o.renewed {
		o.renewed = true
		o.set(o.spec())
	}
	return o.memory.Update(ctx, l, status)
}

func TestReleaseIsRepeatedAfterConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &overtaken{memory: &memory{}}
		contend(t, m, "a", false).end()
		if got := *m.spec().HolderIdentity; got != "" || !m.renewed {
			t.Errorf("the lease is still %q's", got)
		}
	})
}
