package gc

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/gc/graph"
)

const (
	// component is the source of events (D-80).
	component = "garbage-collector-controller"
	// reason is the reason of these events (D-80).
	reason = "OwnerRefInvalidNamespace"
	// maxReports is how many events may wait to be sent; further ones are dropped.
	maxReports = 1000
)

// recorder reports references into other namespaces as Events. It sends each Event once, best effort: a failed one is
// not repeated. It keeps no record of sent Events: an Event's name follows from its content, so a repetition finds the
// first one by its name and increments its count (D-83), also after a restart, as long as Events are kept.
type recorder struct {
	api     API
	timeout time.Duration
	log     *slog.Logger
	reports chan graph.Report
	// flushes receives channels to close when reports is empty.
	flushes chan chan struct{}
	// dropped counts the reports that found the queue full. It belongs to the goroutine that calls report.
	dropped int
}

func newRecorder(api API, timeout time.Duration, log *slog.Logger) *recorder {
	return &recorder{api: api, timeout: timeout, log: log, reports: make(chan graph.Report, maxReports),
		flushes: make(chan chan struct{})}
}

// report queues a report; it never blocks. Of dropped reports it logs the first, the second, the fourth, and so on, as
// there may be very many at a start.
func (r *recorder) report(p graph.Report) {
	select {
	case r.reports <- p:
	default:
		if r.dropped++; r.dropped&(r.dropped-1) == 0 {
			r.log.Warn("the garbage collector dropped an Event", "report", p.String(), "dropped", r.dropped)
		}
	}
}

// run sends reports until ctx is done.
func (r *recorder) run(ctx context.Context) {
	var asked []chan struct{}
	for {
		if len(r.reports) == 0 {
			for _, flushed := range asked {
				close(flushed)
			}
			asked = nil
		}
		select {
		case <-ctx.Done():
			return
		case flushed := <-r.flushes:
			asked = append(asked, flushed)
		case p := <-r.reports:
			if err := r.send(ctx, p, time.Now()); err != nil && ctx.Err() == nil {
				r.log.Warn("failed to store an Event of the garbage collector", "report", p.String(), "err", err)
			}
		}
	}
}

// flush waits until the reports before the call have been sent.
func (r *recorder) flush(ctx context.Context, stopped <-chan struct{}) error {
	flushed := make(chan struct{})
	select {
	case r.flushes <- flushed:
	case <-stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-flushed:
		return nil
	case <-stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send stores the report as an Event or, if it is a repetition, increments the count of the first one.
func (r *recorder) send(ctx context.Context, p graph.Report, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	e := newEvent(p, now)
	err := r.api.CreateEvent(ctx, e)
	if apierrors.IsAlreadyExists(err) {
		err = r.api.CountEvent(ctx, e)
	}
	if apierrors.IsNotFound(err) { // it has expired between the two requests
		err = r.api.CreateEvent(ctx, e)
	}
	return err
}

// message is the message of D-80; the owner is printed with the dependent's namespace.
func message(p graph.Report) string {
	ns := p.Object.Namespace
	return fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		p.Owner.APIVersion, p.Owner.Kind, ns, p.Owner.Name, p.Owner.UID, ns)
}

// eventName is the object's name and a number in the format of client-go's, where it is a time; here it is a hash of
// the object and the message. If that isn't a valid Event name, as with the names of cluster roles, it is a UUID
// (client-go tools/record/util: GenerateEventName).
func eventName(p graph.Report) string {
	digest := sha256.Sum256([]byte(p.Object.UID + "\x00" + message(p)))
	name := fmt.Sprintf("%s.%x", p.Object.Name, digest[:8])
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return uuid.NewSHA1(uuid.NameSpaceOID, digest[:]).String()
	}
	return name
}

// newEvent is the Event of D-80 to D-82.
func newEvent(p graph.Report, now time.Time) *corev1.Event {
	namespace := p.Object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // J-19
	}
	at := metav1.NewTime(now)
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: eventName(p), Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: p.Object.Kind, APIVersion: p.Object.APIVersion,
			Namespace: p.Object.Namespace, Name: p.Object.Name, UID: types.UID(p.Object.UID),
		},
		Reason: reason, Message: message(p), Type: corev1.EventTypeWarning,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}
