package gc

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// soon is how soon a retry must be due for the collector not to be idle: later ones follow repeated failures.
const soon = time.Second

// idleRequest asks for the activity when the collector is idle at the revision or a later one. reply has space for it.
type idleRequest struct {
	revision int64
	reply    chan uint64
}

// Idle waits until the collector has processed the timeline up to the revision, its requests are answered, its Events
// are stored, the timeline has shown their effects, and no retry is due soon. It returns the activity at that moment: a
// number that grows with each request, answer and retry. The timeline must have reached the revision. Errors: ctx's, and
// ErrStopped.
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

// Report describes a collector at one moment.
type Report struct {
	// Activity is as for Idle.
	Activity uint64
	// Requests are those under way. Retries wait for their times, the earliest first.
	Requests []Request
	Retries  []Retry
	// MoreRequests and MoreRetries are the numbers of those that were omitted. Processing says that the collector has
	// something to do besides.
	MoreRequests, MoreRetries int
	Processing                bool
}

// Request is a request under way.
type Request struct {
	Object graph.Ref
	// Verb is the kind of request, as in "delete".
	Verb string
}

// Retry is a request that will be repeated.
type Retry struct {
	Object  graph.Ref
	At      time.Time
	Attempt int
}

// reportRequest asks for a report. reply has space for it.
type reportRequest struct {
	most  int
	reply chan Report
}

// Report returns what the collector does, with at most that many entries in each list. Errors: ctx's, and ErrStopped.
func (c *Collector) Report(ctx context.Context, most int) (Report, error) {
	r := reportRequest{most, make(chan Report, 1)}
	select {
	case c.reports <- r:
	case <-c.stopped:
		return Report{}, ErrStopped
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	select {
	case report := <-r.reply:
		return report, nil
	case <-c.stopped:
		return Report{}, ErrStopped
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
}

// report makes a report.
func (c *Collector) report(most int) Report {
	out := Report{Activity: c.activity, Processing: c.isBusy() && len(c.underWay) == 0}
	for _, r := range c.underWay {
		if len(out.Requests) == most {
			break
		}
		out.Requests = append(out.Requests, Request{objectOf(r.action), verbOf(r.action)})
	}
	out.MoreRequests = len(c.underWay) - len(out.Requests)
	for _, w := range c.queue.earliest(most) {
		out.Retries = append(out.Retries, Retry{w.object, w.at, w.attempt})
	}
	out.MoreRetries = len(c.queue.heap) - len(out.Retries)
	return out
}

// earliest returns at most that many waiters, in their order. There are as many as objects whose requests fail.
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
