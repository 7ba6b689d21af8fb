package gc

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/gc/graph"
)

const (
	// component is the source of events (D-80).
	component = "garbage-collector-controller"
	// reason is theirs (D-80).
	reason = "OwnerRefInvalidNamespace"
	// maxReports is how many events may wait to be sent; more are dropped.
	maxReports = 1000
	// maxRemembered is how many events are remembered, to be counted on when they repeat.
	maxRemembered = 4096
)

// recorder tells users of references into other namespaces, by Events. Like events in general
// they are sent at best, and once: a failure isn't repeated.
type recorder struct {
	api     API
	timeout time.Duration
	log     *slog.Logger
	reports chan graph.Report

	// What follows belongs to the goroutine of run.

	// sent are the events sent, newest first; byText finds them by object and text.
	sent   *list.List
	byText map[eventKey]*list.Element
}

// eventKey is what makes two events the same.
type eventKey struct{ uid, message string }

type sentEvent struct {
	key   eventKey
	event *corev1.Event
}

func newRecorder(api API, timeout time.Duration, log *slog.Logger) *recorder {
	return &recorder{
		api: api, timeout: timeout, log: log,
		reports: make(chan graph.Report, maxReports),
		sent:    list.New(), byText: map[eventKey]*list.Element{},
	}
}

// report takes a report; it never blocks.
func (r *recorder) report(p graph.Report) {
	select {
	case r.reports <- p:
	default:
		r.log.Warn("garbage collector drops an event", "report", p.String())
	}
}

// run sends what is reported until ctx is done.
func (r *recorder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-r.reports:
			if err := r.send(ctx, p, time.Now()); err != nil && ctx.Err() == nil {
				r.log.Warn("garbage collector's event was not stored", "report", p.String(), "err", err)
			}
		}
	}
}

// send stores the report as an Event or, if it is a repetition, counts it on the first one.
func (r *recorder) send(ctx context.Context, p graph.Report, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	key := eventKey{p.Object.UID, message(p)}
	at := r.byText[key]
	if at == nil {
		e := newEvent(p, now)
		if err := r.api.CreateEvent(ctx, e.DeepCopy()); err != nil {
			return err
		}
		r.remember(key, e)
		return nil
	}
	r.sent.MoveToFront(at)
	e := at.Value.(*sentEvent).event
	e.Count++
	e.LastTimestamp = metav1.NewTime(now)
	return r.api.UpdateEvent(ctx, e.DeepCopy())
}

func (r *recorder) remember(key eventKey, e *corev1.Event) {
	r.byText[key] = r.sent.PushFront(&sentEvent{key, e})
	if r.sent.Len() > maxRemembered {
		last := r.sent.Back()
		delete(r.byText, r.sent.Remove(last).(*sentEvent).key)
	}
}

// message is the text of D-80; the owner prints with the dependent's namespace.
func message(p graph.Report) string {
	ns := p.Object.Namespace
	return fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		p.Owner.APIVersion, p.Owner.Kind, ns, p.Owner.Name, p.Owner.UID, ns)
}

// newEvent is the Event of D-80 to D-82. Its name is the object's and the time, as client-go's
// recorder has it (K tools/record: makeEvent).
func newEvent(p graph.Report, now time.Time) *corev1.Event {
	namespace := p.Object.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // J-19
	}
	at := metav1.NewTime(now)
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", p.Object.Name, now.UnixNano()), Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: p.Object.Kind, APIVersion: p.Object.APIVersion,
			Namespace: p.Object.Namespace, Name: p.Object.Name, UID: types.UID(p.Object.UID),
		},
		Reason: reason, Message: message(p), Type: corev1.EventTypeWarning,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}
