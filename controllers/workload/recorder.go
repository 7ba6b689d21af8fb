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

// maxWaiting is how many Events may wait to be sent.
const maxWaiting = 1000

// Recorder sends the Events of one component: of the actions and failures of a controller. Record never blocks and
// never fails: one goroutine sends each Event once, best effort. Up to 1000 may wait to be sent; further ones are
// dropped, which is logged. The memory for repetitions is bounded (4096 entries of each kind), and lost with the
// process.
type Recorder struct {
	api       EventAPI
	component string
	log       *slog.Logger
	waiting   chan *waiting
	// unsent counts the Events that were recorded and not sent.
	unsent reconcile.Backlog
}

// waiting is an Event that is to be sent.
type waiting struct {
	about corev1.ObjectReference
	event Event
	at    time.Time
}

// NewRecorder returns a recorder, which Run starts. component is the source of its Events.
func NewRecorder(api EventAPI, component string, log *slog.Logger) *Recorder {
	return &Recorder{api: api, component: component, log: log, waiting: make(chan *waiting, maxWaiting),
		unsent: reconcile.Backlog{What: "writing Events"}}
}

// Join adds the recorder to the monitor of ctx, if it has one, before its component begins; end removes it.
func (r *Recorder) Join(ctx context.Context) (end func()) {
	return reconcile.JoinBeside(ctx, &r.unsent)
}

// Record queues an Event to be sent. It may be called from any goroutine.
func (r *Recorder) Record(about corev1.ObjectReference, e Event, now time.Time) {
	r.unsent.Begin()
	select {
	case r.waiting <- &waiting{about, e, now}:
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
		case w := <-r.waiting:
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

// terminating reports whether the namespace is being deleted or gone.
func terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err)
}

// send stores an Event or increments the count of the stored one. One that has expired is stored again with its count
// (client-go tools/record: recordEvent).
func (r *Recorder) send(ctx context.Context, c *correlator, w *waiting, now time.Time) error {
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
