package workload

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Plan has the requests, the status and the events that an object needs.
type Plan struct {
	// Do is carried out first. Adjacent actions with objects of one Go type are a stage, and run concurrently; stages
	// run one after the other, and a failure ends the plan. Creates begin slowly: one, two, four ..., and stop after
	// the first such batch with a failure (K controller/replicaset: slowStartBatch).
	Do []Action
	// Status is the object with its new status; nil to leave it unchanged. It is written after Do, and only over the
	// state of the view.
	Status Object
	// Events are about the object, and recorded last. Events about one action belong to that action.
	Events []Event
	// Notes are events about other objects, recorded after Events.
	Notes []Note
	// Again is the time until the next pass without an event; 0 for none. The plan's own writes cause another pass
	// anyway.
	Again time.Duration
	// Rest is the minimum time until the next pass, even after an event.
	Rest time.Duration
	// Slow, if set, is for decisions that take long or send requests: it returns the plan that replaces this one, and is
	// called outside of API.View, so it must not use the View. It isn't called for a plan with View.Failed.
	Slow func(ctx context.Context) Plan
	// Err is the reason why nothing can be decided; the pass fails with it.
	Err error
}

// Within requests a pass within d, unless an earlier one is requested.
func (p *Plan) Within(d time.Duration) {
	if p.Again == 0 || d < p.Again {
		p.Again = d
	}
}

// Available reports whether a pod has been ready for minReadySeconds. If it will be, it requests a pass for that time.
func (p *Plan) Available(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	wait, ok := Available(pod, minReadySeconds, now)
	if ok && wait > 0 {
		p.Within(wait)
	}
	return ok && wait == 0
}

// Note is an event about an object other than that of the pass.
type Note struct {
	About Object
	Event Event
}

// Action is a request: Create, Update, ApplyStatus, Bind or Delete.
type Action interface {
	fmt.Stringer
	// Target is the object of the request, and the events for its success and failure.
	Target() (o Object, done, failed Event)
}

// In the messages of events, Name is replaced by the final name of the action's object, and Problem by the error.
const (
	Name    = "{name}"
	Problem = "{error}"
)

// Create creates an object. An error because the namespace is being deleted is no failure, and no event is recorded
// (I-18).
type Create struct {
	// Object has a type of Resources. Several actions may share it.
	Object Object
	// Done and Failed are recorded about the object of the pass; empty for none. AlreadyExists is a failure, but
	// without an event.
	Done, Failed Event
}

// Update replaces an object in the state of the view: its resourceVersion is a precondition. After a conflict, or if
// the object is gone, the plan ends, and another is made.
type Update struct {
	Object Object
	// Status replaces only the status.
	Status       bool
	Done, Failed Event
}

// ApplyStatus applies the fields of the status that are set, by force. The object's resourceVersion, if set, is a
// precondition.
type ApplyStatus struct{ Object Object }

// Bind assigns a pod to a node. If a pod can't be assigned any more, that is a conflict. A pod whose namespace is being
// deleted stays unassigned, which is no failure.
type Bind struct {
	Pod  *corev1.Pod
	Node string
	// Done is recorded about the object of the pass.
	Done Event
}

// Delete deletes an object if it still has its uid. It is no failure if the object is gone.
type Delete struct {
	Object Object
	// Exact makes the resourceVersion a precondition, too.
	Exact bool
	// Policy is the propagation policy; empty for the default of the type.
	Policy metav1.DeletionPropagation
	// Grace is in seconds; nil for the object's own grace period.
	Grace        *int64
	Done, Failed Event
}

func (c Create) Target() (Object, Event, Event) { return c.Object, c.Done, c.Failed }
func (u Update) Target() (Object, Event, Event) { return u.Object, u.Done, u.Failed }
func (a ApplyStatus) Target() (o Object, done, failed Event) {
	return a.Object, done, failed
}
func (b Bind) Target() (o Object, done, none Event) { return b.Pod, b.Done, none }
func (d Delete) Target() (Object, Event, Event)     { return d.Object, d.Done, d.Failed }

// String describes the action.
func (c Create) String() string {
	name := cmp.Or(c.Object.GetName(), c.Object.GetGenerateName()+"*")
	return fmt.Sprintf("create %s %s", Of(c.Object).Kind, name)
}

// String describes the action.
func (u Update) String() string {
	part := ""
	if u.Status {
		part = "the status of "
	}
	return fmt.Sprintf("update %s%s %s", part, Of(u.Object).Kind, u.Object.GetName())
}

// String describes the action.
func (a ApplyStatus) String() string {
	return fmt.Sprintf("apply the status of %s %s", Of(a.Object).Kind, a.Object.GetName())
}

// String describes the action.
func (b Bind) String() string { return fmt.Sprintf("bind Pod %s to %s", b.Pod.Name, b.Node) }

// String describes the action.
func (d Delete) String() string {
	s := fmt.Sprintf("delete %s %s", Of(d.Object).Kind, d.Object.GetName())
	if d.Policy != "" {
		s += " " + string(d.Policy)
	}
	return s
}

// Telling replaces the placeholders in an event's message; ok is false if there is no event to record.
func Telling(e Event, name string, err error) (out Event, ok bool) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	e.Message = strings.NewReplacer(Name, name, Problem, problem).Replace(e.Message)
	return e, e.Reason != ""
}

// Normal returns an event of type Normal.
func Normal(reason, message string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}
}

// Warning returns an event of type Warning.
func Warning(reason, message string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}
}
