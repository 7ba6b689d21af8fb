package autoscale

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

type engineAPI = workload.API

// cluster is an API with one autoscaler, whose target can't be read.
type cluster struct {
	API
	engineAPI
	workload.Reader
	changes chan workload.Change

	mu  sync.Mutex // guards the fields below
	hpa *autoscalingv2.HorizontalPodAutoscaler
	// log are the requests with the seconds at which they came.
	log   []string
	start time.Time
	fail  error
}

func (c *cluster) did(what string) {
	c.log = append(c.log, fmt.Sprintf("%s@%d", what, int(time.Since(c.start).Seconds())))
}

func (c *cluster) View(_ context.Context, f func(workload.Reader)) error { f(c); return nil }

func (c *cluster) All(workload.Resource, string) []workload.Object { return nil }

func (c *cluster) Get(workload.Resource, string, string) workload.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hpa == nil {
		return nil
	}
	return c.hpa
}

func (c *cluster) Follow(ctx context.Context, _ workload.Resource, _ []workload.Resource,
	sink func(workload.Change)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case change := <-c.changes:
			sink(change)
		}
	}
}

func (c *cluster) Target(context.Context, string, autoscalingv2.CrossVersionObjectReference) (
	*autoscalingv1.Scale, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did("scale")
	return nil, errors.New("it is gone")
}

// Update stores the status, which is an event.
func (c *cluster) Update(_ context.Context, o workload.Object, _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did("status")
	if c.fail != nil {
		return c.fail
	}
	c.hpa = o.(*autoscalingv2.HorizontalPodAutoscaler)
	go c.changed()
	return nil
}

func (c *cluster) changed() {
	c.changes <- workload.Change{Resource: workload.Autoscalers,
		New: &workload.Meta{Key: workload.Key{Namespace: "a", Name: "web"}}}
}

func (c *cluster) CreateEvent(_ context.Context, e *corev1.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did(e.Reason)
	return nil
}

func (c *cluster) CountEvent(_ context.Context, e *corev1.Event) error { return nil }

// put replaces the autoscaler by one with a maximum; 0 deletes it.
func (c *cluster) put(most int32, uid types.UID) {
	c.mu.Lock()
	c.hpa = nil
	if most > 0 {
		c.hpa = &autoscalingv2.HorizontalPodAutoscaler{}
		c.hpa.Name, c.hpa.Namespace, c.hpa.UID, c.hpa.Spec.MaxReplicas = "web", "a", uid, most
	}
	c.mu.Unlock()
	c.changed()
}

// seen returns the requests since the last call, after all passes that are due.
func (c *cluster) seen() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.log = nil }()
	return fmt.Sprint(c.log)
}

// TestPassFollowsSpecAndPeriod: a pass follows the creation, a change of the spec, and every period, but not its own
// status; a deletion ends them.
func TestPassFollowsSpecAndPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{changes: make(chan workload.Change), start: time.Now()}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { workload.Run(ctx, New(c, Options{}), c, workload.Options{}) })
		defer running.Wait()
		defer stop()
		step := func(name, want string) {
			t.Helper()
			if got := c.seen(); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		c.put(1, "x")
		step("created", "[scale@0 status@0 FailedGetScale@0]")
		time.Sleep(14 * time.Second)
		step("waiting", "[]")
		time.Sleep(time.Second)
		step("after a period", "[scale@15]")
		time.Sleep(5 * time.Second)
		c.put(2, "x")
		step("spec changed", "[scale@20 status@20]")
		time.Sleep(15 * time.Second)
		step("after another period", "[scale@35]")
		c.put(2, "y")
		step("replaced", "[scale@35 status@35 FailedGetScale@35]")
		c.mu.Lock()
		c.fail = errors.New("no")
		c.mu.Unlock()
		c.put(2, "z")
		step("status fails", "[scale@35 status@35 FailedGetScale@35 FailedUpdateStatus@35]")
		c.put(0, "")
		time.Sleep(time.Minute)
		step("deleted", "[]")
	})
}
