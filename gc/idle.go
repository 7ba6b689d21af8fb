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

// soon is how soon a retry must be due for the collector not to be idle: later ones follow repeated failures.
const soon = time.Second

// idleRequest requests the activity when the collector is idle at the revision or a later one. reply has space for it.
type idleRequest struct {
	revision int64
	reply    chan uint64
}

// Idle implements reconcile.Part: it waits until the collector has processed the timeline up to the revision, its
// requests are answered, its Events are stored, the timeline has shown their effects, and no retry is due soon. It
// returns the activity at that moment: a number that grows with each request, answer and retry. The timeline must have
// reached the revision. Errors: ctx's, and ErrStopped.
func (c *Collector) Idle(ctx context.Context, revision int64) (activity uint64, err error) {
	r := idleRequest{revision, make(chan uint64, 1)}
	select {
	case c.idles <- r:
	case <-c.stopped:
		return 0, ErrStopped
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case activity = <-r.reply:
	case <-c.stopped:
		return 0, ErrStopped
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return activity, c.recorder.flush(ctx, c.stopped)
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
	return s.Ready+s.InFlight+s.Settled+len(c.underWay) > 0 || c.queue.isDue(time.Now().Add(soon))
}

// isDue reports whether a ticket is due at the time.
func (q *queue) isDue(at time.Time) bool { return len(q.heap) > 0 && !q.heap[0].at.After(at) }

// reportRequest requests a report. reply has space for it.
type reportRequest struct {
	most  int
	reply chan reconcile.Report
}

// Report implements reconcile.Part: it returns the requests and the retries of the collector. No list has more than
// most entries. Errors: ctx's, and ErrStopped.
func (c *Collector) Report(ctx context.Context, most int) (reconcile.Report, error) {
	r := reportRequest{most, make(chan reconcile.Report, 1)}
	select {
	case c.reports <- r:
	case <-c.stopped:
		return reconcile.Report{}, ErrStopped
	case <-ctx.Done():
		return reconcile.Report{}, ctx.Err()
	}
	select {
	case report := <-r.reply:
		return report, nil
	case <-c.stopped:
		return reconcile.Report{}, ErrStopped
	case <-ctx.Done():
		return reconcile.Report{}, ctx.Err()
	}
}

// report makes a report.
func (c *Collector) report(ctx context.Context, most int) reconcile.Report {
	out := reconcile.Report{Activity: c.activity}
	for _, r := range c.underWay {
		if len(out.Works) == most {
			break
		}
		work := reconcile.Work{Object: refer(objectOf(r.action)), What: "a request: " + verbOf(r.action)}
		out.Works = append(out.Works, work)
	}
	out.MoreWorks = len(c.underWay) - len(out.Works)
	if c.isBusy() && len(c.underWay) == 0 {
		out.Works = append(out.Works, reconcile.Work{What: "taking in changes"})
	}
	for _, w := range c.queue.earliest(most) {
		// Retries wait by the machine's clock; the report has the time of controllers.
		out.Waits = append(out.Waits, reconcile.Wait{
			Object: refer(w.object), Until: reconcile.Now(ctx).Add(time.Until(w.at)),
			Why: fmt.Sprintf("%s (%d)", reconcile.AfterFailure, w.attempt),
		})
	}
	out.MoreWaits = len(c.queue.heap) - len(out.Waits)
	return out
}

// refer names an object. Its collection has the resource behind the group, and services those of two.
func refer(o graph.Ref) reconcile.Object {
	group, version, found := strings.Cut(o.APIVersion, "/")
	if !found {
		group, version = "", o.APIVersion
	}
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

// earliest returns the first waiters, no more than most. There is one for each object whose requests fail.
func (q *queue) earliest(most int) []*waiter {
	all := slices.Clone(q.heap)
	slices.SortFunc(all, func(a, b *waiter) int {
		if a.at.Equal(b.at) {
			return int(a.ticket) - int(b.ticket)
		}
		return a.at.Compare(b.at)
	})
	return all[:min(len(all), most)]
}

// objectOf is the object of a request.
func objectOf(a graph.Action) graph.Ref {
	switch a := a.(type) {
	case graph.Delete:
		return a.Object
	case graph.RemoveOwners:
		return a.Object
	case graph.Unblock:
		return a.Object
	case graph.RemoveFinalizer:
		return a.Object
	}
	panic(fmt.Sprintf("gc: %T is no request", a))
}

// verbOf is the kind of a request.
func verbOf(a graph.Action) string {
	if isPatch(a) {
		return "patch"
	}
	return "delete"
}
