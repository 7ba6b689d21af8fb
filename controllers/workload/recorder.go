package workload

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// EventAPI stores Events. Errors are API errors.
type EventAPI interface {
	// CreateEvent stores a new Event.
	CreateEvent(ctx context.Context, e *corev1.Event) error
	// CountEvent sets count, message and lastTimestamp of the stored Event of e's name to e's.
	CountEvent(ctx context.Context, e *corev1.Event) error
}

// maxQueued is the maximum number of Events that wait to be sent.
const maxQueued = 1000

// Recorder sends the Events that one component, such as a controller, records. Record never blocks and never fails: it
// queues the Event, and one goroutine sends each Event once, without retries. If 1000 Events wait, Record drops the
// Event and logs that. Repetitions are counted in memory (at most 4096 entries of each kind), and forgotten when the
// process ends.
type Recorder struct {
	api       EventAPI
	component string
	log       *slog.Logger
	queue     chan *queuedEvent
	// unsent counts the Events that were recorded but not sent yet.
	unsent reconcile.Backlog
}

// queuedEvent is an Event that waits to be sent.
type queuedEvent struct {
	about corev1.ObjectReference
	event Event
	at    time.Time
}

// NewRecorder returns a recorder; Run sends its Events. component is the source of the Events.
func NewRecorder(api EventAPI, component string, log *slog.Logger) *Recorder {
	return &Recorder{api: api, component: component, log: log, queue: make(chan *queuedEvent, maxQueued),
		unsent: reconcile.Backlog{What: "writing Events"}}
}

// Record queues an Event to be sent. It may be called from any goroutine.
func (r *Recorder) Record(about corev1.ObjectReference, e Event, now time.Time) {
	r.unsent.Begin()
	select {
	case r.queue <- &queuedEvent{about, e, now}:
	default:
		r.unsent.End()
		r.log.Debug("dropped an Event", "reason", e.Reason, "namespace", about.Namespace, "name", about.Name)
	}
}

// Run sends recorded Events until ctx is done.
func (r *Recorder) Run(ctx context.Context) {
	c, last := newCorrelator(r.component), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-r.queue:
			if last = last.Add(1); w.at.After(last) {
				last = w.at
			}
			if err := r.send(ctx, c, w, last); err != nil && ctx.Err() == nil && !terminating(err) {
				r.log.Warn("failed to store an Event", "reason", w.event.Reason, "namespace", w.about.Namespace,
					"name", w.about.Name, "err", err)
			}
			r.unsent.End()
		}
	}
}

// terminating reports whether err means that the Event's namespace is being deleted or is gone.
func terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err)
}

// send creates an Event, or updates the stored one if it is a repetition. If the stored one has expired, it is created
// again with its count (client-go tools/record: recordEvent).
func (r *Recorder) send(ctx context.Context, c *correlator, w *queuedEvent, now time.Time) error {
	e, err := c.correlate(w.about, w.event, now)
	if err != nil || e == nil {
		return err
	}
	if e.Count > 1 {
		if err := r.api.CountEvent(ctx, e); !apierrors.IsNotFound(err) {
			return err
		}
	}
	return r.api.CreateEvent(ctx, e)
}
