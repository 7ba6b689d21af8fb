package gc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// idleRequest requests the activity when the collector is idle at the revision or a later one.
type idleRequest struct {
	revision int64
	reply    chan<- uint64
}

// ask calls f in the goroutine of Run, with Run's context, and returns the answer that f or a later step sends to
// reply. Sending does not block. ask returns ErrStopped if the collector stops before.
func ask[A any](
	ctx context.Context, c *Collector, f func(ctx context.Context, reply chan<- A),
) (answer A, err error) {
	reply := make(chan A, 1)
	select {
	case c.asks <- func(ctx context.Context) { f(ctx, reply) }:
	case <-c.stopped:
		return answer, ErrStopped
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	select {
	case answer = <-reply:
		return answer, nil
	case <-c.stopped:
		return answer, ErrStopped
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// Idle implements reconcile.Part: it waits until the collector has processed the timeline up to the revision, its
// requests are answered, its Events are stored, the timeline has shown their effects, and no retry is due soon. It
// returns the activity at that moment: a number that grows with each request, answer and retry. The timeline must have
// reached the revision. Errors: ctx's, and ErrStopped.
func (c *Collector) Idle(ctx context.Context, revision int64) (activity uint64, err error) {
	activity, err = ask(ctx, c, func(_ context.Context, reply chan<- uint64) {
		c.waiting = append(c.waiting, idleRequest{revision, reply})
	})
	if err == nil {
		_, err = c.recorder.unsent.Idle(ctx, revision)
	}
	return activity, err
}

// answerIdle answers the requests of Idle for which the collector is idle.
func (c *Collector) answerIdle(w *cache.Watcher) {
	if len(c.waiting) == 0 || c.isBusy() {
		return
	}
	reached := w.Progress()
	c.waiting = slices.DeleteFunc(c.waiting, func(r idleRequest) bool {
		if r.revision > reached {
			return false
		}
		r.reply <- c.activity
		return true
	})
}

func (c *Collector) isBusy() bool {
	s := c.graph.Stats()
	_, retries := c.queue.order.Due(time.Now().Add(reconcile.Soon))
	return s.Ready+s.InFlight+s.Settled+len(c.underWay) > 0 || retries
}

// Report implements reconcile.Part: it returns the requests and the retries of the collector. No list has more than
// most entries. Errors: ctx's, and ErrStopped.
func (c *Collector) Report(ctx context.Context, most int) (reconcile.Report, error) {
	return ask(ctx, c, func(ctx context.Context, reply chan<- reconcile.Report) { reply <- c.report(ctx, most) })
}

func (c *Collector) report(ctx context.Context, most int) reconcile.Report {
	out := reconcile.Report{Activity: c.activity}
	for _, r := range c.underWay {
		if len(out.Works) == most {
			break
		}
		work := reconcile.Work{Object: refer(r.object), What: "a request: " + verbOf(r.action)}
		out.Works = append(out.Works, work)
	}
	out.MoreWorks = len(c.underWay) - len(out.Works)
	if c.isBusy() && len(c.underWay) == 0 {
		out.Works = append(out.Works, reconcile.Work{What: "taking in changes"})
	}
	for _, ticket := range c.queue.order.Earliest(most) {
		at, _ := c.queue.order.At(ticket)
		// Retries wait by the machine's clock; the report has the time of controllers.
		out.Waits = append(out.Waits, reconcile.Wait{
			Object: refer(c.queue.retries[ticket].Object), Until: reconcile.Now(ctx).Add(time.Until(at)),
			Why: fmt.Sprintf("%s (%d)", reconcile.AfterFailure, c.queue.retries[ticket].Attempt),
		})
	}
	out.MoreWaits = c.queue.order.Len() - len(out.Waits)
	return out
}

// refer names an object. The resource is the last part of its collection, except for services (services/specs).
func refer(o graph.Ref) reconcile.Object {
	group, version := split(o.APIVersion)
	resource := o.Collection[strings.LastIndexByte(o.Collection, '/')+1:]
	if resource == "" {
		return reconcile.Object{}
	}
	if group == "" && o.Kind == "Service" {
		resource = "services"
	}
	return reconcile.Object{Group: group, Version: version, Resource: resource, Kind: o.Kind, Namespace: o.Namespace,
		Name: o.Name}
}

func verbOf(a graph.Action) string {
	if isPatch(a) {
		return "patch"
	}
	return "delete"
}
