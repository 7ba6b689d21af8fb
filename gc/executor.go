package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
)

// executor sends the requests. Only the executor and the recorders send requests to the API server.
type executor struct {
	// recorder stores an Event for each deleted object; nil stores none.
	recorder *recorder

	api     API
	root    string
	timeout time.Duration
	log     *slog.Logger
	metrics *metrics
	// Both channels are short: there is a worker for each request in flight, so neither side waits long for the other.
	requests chan request
	results  chan graph.Result
	// workers is the number of workers that spawn has started. It belongs to the collector's goroutine.
	workers int
	spawn   func()
}

// request is an action in flight.
type request struct {
	action graph.Action
	ticket graph.Ticket
	object graph.Ref
	// queue is the name of upstream's queue from which the request would have come.
	queue string
	since time.Time
	send  func(context.Context) error
}

// requestOf returns the request that carries out an action.
func (x *executor) requestOf(a graph.Action) request {
	r := request{action: a, queue: deleteQueue, since: time.Now()}
	switch a := a.(type) {
	case graph.Delete:
		r.ticket, r.object = a.Ticket, a.Object
		r.send = func(ctx context.Context) error {
			return x.api.Delete(ctx, DeleteRequest{Object: a.Object, Guards: x.guards(a.Guards), Cause: a.Cause,
				Policy: metav1.DeletionPropagation(a.Policy.String())})
		}
	case graph.RemoveOwners:
		r.ticket, r.object = a.Ticket, a.Object
		r.send = func(ctx context.Context) error { return x.api.RemoveOwners(ctx, a) }
		if a.Orphaning {
			r.queue = orphanQueue
		}
	case graph.Unblock:
		r.ticket, r.object = a.Ticket, a.Object
		r.send = func(ctx context.Context) error { return x.api.Unblock(ctx, a) }
	case graph.RemoveFinalizer:
		r.ticket, r.object = a.Ticket, a.Object
		r.send = func(ctx context.Context) error { return x.api.RemoveFinalizer(ctx, a) }
		if a.Finalizer == graph.Orphan {
			r.queue = orphanQueue
		}
	default:
		panic(fmt.Sprintf("gc: %T is no request", a))
	}
	return r
}

func newExecutor(c Config, m *metrics) *executor {
	var r *recorder
	if c.Events {
		r = newRecorder(c.API, maxCollected, c.Timeout, c.Log)
	}
	return &executor{
		recorder: r,
		api:      c.API, root: c.Root, timeout: c.Timeout, log: c.Log, metrics: m,
		requests: make(chan request, min(c.Workers, maxQueued)),
		results:  make(chan graph.Result, min(c.Workers, maxQueued)),
	}
}

// maxQueued is the maximum number of requests, and of answers, that are queued between the collector and its workers.
const maxQueued = 256

// dispatch passes a request to a worker. underWay is the number of requests in flight, including this one. dispatch
// starts a worker only when no worker is idle. Workers do not end before ctx is done: a new goroutine for each request
// would grow its stack each time, an eighth of the processor time of a cascade.
func (x *executor) dispatch(ctx context.Context, r request, underWay int) {
	if x.workers < underWay {
		x.workers++
		x.spawn()
	}
	select {
	case x.requests <- r:
	case <-ctx.Done():
	}
}

// work runs one worker. It returns when ctx is done.
func (x *executor) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-x.requests:
			select {
			case x.results <- graph.Result{Ticket: r.ticket, Outcome: x.run(ctx, r)}:
			case <-ctx.Done():
			}
		}
	}
}

// run carries out a request.
func (x *executor) run(ctx context.Context, r request) graph.Outcome {
	start := time.Now()
	within, cancel := context.WithTimeout(ctx, x.timeout)
	err := r.send(within)
	cancel()
	x.metrics.request(r, start, time.Now())
	out := outcomeOf(r.action, err)
	if out == graph.Done {
		x.logDone(ctx, r.action)
		x.record(r.action)
	}
	if out == graph.Failed && ctx.Err() == nil {
		x.log.Warn("a request of the garbage collector failed", "request", r.action.String(), "err", err)
	}
	return out
}

// record stores an Event about a deleted object, if Events are stored.
func (x *executor) record(a graph.Action) {
	if d, ok := a.(graph.Delete); ok && x.recorder != nil {
		x.recorder.record(collected(d))
	}
}

// maxGuards is the maximum number of keys that one transaction compares; etcd's default limit is 128.
const maxGuards = 120

// guards returns the keys to compare. If an object has more owners than maxGuards, existing owners come first. An owner
// that is missing, or whose name another object has, would matter only if it returned with the same uid.
func (x *executor) guards(from []graph.Guard) []storage.Guard {
	if len(from) > maxGuards {
		from = slices.SortedStableFunc(slices.Values(from), func(a, b graph.Guard) int {
			return cmp.Compare(existing(b), existing(a))
		})
		from = from[:maxGuards]
	}
	guards := make([]storage.Guard, len(from))
	for i, g := range from {
		guards[i] = storage.Guard{Key: x.root + "/" + g.Key.String(), ModRevision: g.Revision, Held: g.Held}
	}
	return guards
}

// existing returns the revision of the owner; 0 if it doesn't exist.
func existing(g graph.Guard) int64 {
	if g.Held {
		return 0
	}
	return g.Revision
}

// outcomeOf classifies errors. No other code does.
func outcomeOf(a graph.Action, err error) graph.Outcome {
	switch {
	case err == nil:
		return graph.Done
	case apierrors.IsNotFound(err):
		return graph.Missing
	case apierrors.IsConflict(err):
		return graph.Conflict
	case isPatch(a) && namesUID(err): // B-57, J-40: another object has taken the name
		return graph.Missing
	}
	return graph.Failed
}

func isPatch(a graph.Action) bool {
	_, isDelete := a.(graph.Delete)
	return !isDelete
}

// namesUID reports whether the error rejects a change of metadata.uid.
func namesUID(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Field == "metadata.uid"
	})
}
