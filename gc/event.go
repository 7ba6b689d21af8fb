package gc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// component is the source of events (D-80).
const component = "garbage-collector-controller"

const (
	// maxReports and maxCollected limit the Events that wait to be sent, about references and about collected objects.
	// Further ones are dropped.
	maxReports   = 1000
	maxCollected = 10_000
)

// note is the content of an Event.
type note struct {
	object                graph.Ref
	kind, reason, message string
}

// String returns the text of the note for logs.
func (n note) String() string { return n.reason + " " + n.object.String() + ": " + n.message }

// foreign returns the note about a reference into another namespace. Its message is that of D-80; the owner is printed
// with the dependent's namespace.
func foreign(p graph.Report) note {
	ns := p.Object.Namespace
	return note{p.Object, corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
		fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			p.Owner.APIVersion, p.Owner.Kind, ns, p.Owner.Name, p.Owner.UID, ns)}
}

// collected returns the note about an object that the collector has deleted (--collection-events).
func collected(a graph.Delete) note {
	why, o := "no owner exists", a.Cause.Owner
	if o.UID != "" {
		why = fmt.Sprintf("owner %s/%s %s, uid %s, ", o.APIVersion, o.Kind, o.Name, o.UID) + map[graph.Reason]string{
			graph.AbsentOwner: "does not exist", graph.DeletedOwner: "is gone",
			graph.ForegroundOwner: "is being deleted in the foreground", graph.OrphaningOwner: "orphans its dependents",
		}[a.Cause.Reason]
	}
	return note{a.Object, corev1.EventTypeNormal, "GarbageCollected",
		fmt.Sprintf("deleted by the garbage collector, propagationPolicy %s: %s", a.Policy, why)}
}

// recorder stores notes as Events. It sends each Event once, best effort: a failed one is not repeated. It keeps no
// record of sent Events: an Event's name follows from its content, so a repetition finds the first one by its name and
// increments its count (D-83), also after a restart, as long as Events are kept.
type recorder struct {
	api     API
	timeout time.Duration
	log     *slog.Logger
	notes   chan note
	// unsent counts the notes that were recorded but not sent yet.
	unsent reconcile.Backlog
	// dropped counts the notes that found the queue full.
	dropped atomic.Int64
}

// newRecorder returns a recorder in which at most "waiting" notes wait.
func newRecorder(api API, waiting int, timeout time.Duration, log *slog.Logger) *recorder {
	return &recorder{api: api, timeout: timeout, log: log, notes: make(chan note, waiting)}
}

// record queues a note; it never blocks. Of dropped notes it logs the first, the second, the fourth, and so on, as
// there may be very many at a start.
func (r *recorder) record(n note) {
	r.unsent.Begin()
	select {
	case r.notes <- n:
	default:
		r.unsent.End()
		if dropped := r.dropped.Add(1); dropped&(dropped-1) == 0 {
			r.log.Warn("the garbage collector dropped an Event", "event", n.String(), "dropped", dropped)
		}
	}
}

// run sends notes until ctx is done; notes that wait then are not sent.
func (r *recorder) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			for len(r.notes) > 0 {
				<-r.notes
				r.unsent.End()
			}
			return
		case n := <-r.notes:
			err := r.send(ctx, n, time.Now())
			switch {
			case err == nil || ctx.Err() != nil:
			case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // it accepts no Events (I-18)
				r.log.Debug("the garbage collector's Event is not stored", "event", n.String(), "err", err)
			default:
				r.log.Warn("failed to store an Event of the garbage collector", "event", n.String(), "err", err)
			}
			r.unsent.End()
		}
	}
}

// send stores the note as an Event or, if it is a repetition, increments the count of the first one.
func (r *recorder) send(ctx context.Context, n note, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	e := newEvent(n, now)
	err := r.api.CreateEvent(ctx, e)
	if apierrors.IsAlreadyExists(err) {
		err = r.api.CountEvent(ctx, e)
	}
	if apierrors.IsNotFound(err) { // it has expired between the two requests
		err = r.api.CreateEvent(ctx, e)
	}
	return err
}

// eventName returns the object's name and a number, as client-go does. There the number is a time; here it is a hash of
// the object's uid and the message. If the result isn't a valid name, as for some cluster roles, eventName returns a
// UUID (client-go tools/record/util: GenerateEventName).
func eventName(n note) string {
	digest := sha256.Sum256([]byte(n.object.UID + "\x00" + n.message))
	name := fmt.Sprintf("%s.%x", n.object.Name, digest[:8])
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return uuid.NewSHA1(uuid.NameSpaceOID, digest[:]).String()
	}
	return name
}

// newEvent returns the Event of D-80 to D-82.
func newEvent(n note, now time.Time) *corev1.Event {
	namespace := cmp.Or(n.object.Namespace, metav1.NamespaceDefault) // J-19
	at := metav1.NewTime(now)
	return &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: eventName(n), Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: n.object.Kind, APIVersion: n.object.APIVersion,
			Namespace: n.object.Namespace, Name: n.object.Name, UID: types.UID(n.object.UID),
		},
		Reason: n.reason, Message: n.message, Type: n.kind,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}
