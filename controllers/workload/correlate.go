package workload

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
)

// Event is the content of an Event.
type Event struct {
	// Type is corev1.EventTypeNormal or EventTypeWarning.
	Type, Reason, Message string
	// Field is the part of the object that the Event is about, such as "spec.containers{web}"; empty for all of it.
	Field string
	// Host is the node of the component; empty for components that belong to no node.
	Host string
}

// correlator decides whether an Event is new, a repetition, or beyond the rate limit (client-go's EventCorrelator). A
// repetition increments the count of the present Event. If an object gets ten different messages for one reason within
// ten minutes, the tenth and later ones are counted on one Event, whose message begins with "(combined from similar
// events): ". An object gets at most 25 Events of a type at once, and then one in five minutes. Others are dropped, and
// counted on the next Event with the same message. It belongs to one goroutine.
type correlator struct {
	component string
	clock     *moment
	events    *record.EventCorrelator
}

func newCorrelator(component string) *correlator {
	m := &moment{}
	return &correlator{component: component, clock: m, events: record.NewEventCorrelator(m)}
}

// correlate returns the Event to send: a new Event if its Count is 1, otherwise the new state of the stored Event with
// its name; nil if it is beyond the rate limit. Each call must have a later time than the previous one, as the time is
// a part of an Event's name.
func (c *correlator) correlate(about corev1.ObjectReference, e Event, now time.Time) (*corev1.Event, error) {
	c.clock.now = now
	namespace := cmp.Or(about.Namespace, metav1.NamespaceDefault) // J-19
	about.FieldPath = e.Field
	at := metav1.NewTime(now)
	out, err := c.events.EventCorrelate(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: util.GenerateEventName(about.Name, now.UnixNano()), Namespace: namespace},
		InvolvedObject: about, Reason: e.Reason, Message: e.Message, Type: e.Type,
		Source: corev1.EventSource{Component: c.component, Host: e.Host}, ReportingController: c.component,
		ReportingInstance: e.Host, // client-go tools/record: makeEvent
		FirstTimestamp:    at, LastTimestamp: at, Count: 1,
	})
	if err != nil || out.Skip {
		return nil, err
	}
	out.Event.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}
	// The correlator does not copy these to combined Events.
	out.Event.ReportingController, out.Event.ReportingInstance = c.component, e.Host
	return out.Event, nil
}

// moment is a clock that the caller sets.
type moment struct{ now time.Time }

// Now implements clock.PassiveClock.
func (m *moment) Now() time.Time { return m.now }

// Since implements clock.PassiveClock.
func (m *moment) Since(t time.Time) time.Duration { return m.now.Sub(t) }
