package workload

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/event"
)

// Plan is what is to be done about an object.
type Plan struct {
	// Do is carried out first. Neighbours of one Go type are a stage, and run side by side; stages run one
	// after the other, and what fails ends the plan. Creates begin slowly: one, two, four ..., and stop after
	// the first such batch that has a failure (K controller/replicaset: slowStartBatch).
	Do []Action
	// Status is the object with its new status; nil to leave it as it is. It is written after Do, and only
	// over the state that was viewed.
	Status Object
	// Events are about the object, and recorded after the rest was done. What is about one action stands
	// there.
	Events []event.Event
	// Again is when to look again though nothing happens; 0 for never. What is written by the plan makes for
	// another look anyway.
	Again time.Duration
}

// Action is a request: Create, Update, Bind or Delete.
type Action interface {
	fmt.Stringer
	// target is what the request is about, and the events that tell how it went.
	target() (o Object, done, failed event.Event)
}

// In the messages of events Name stands for the name of the action's object, as it turned out, and Problem
// for the error.
const (
	Name    = "{name}"
	Problem = "{error}"
)

// Create creates an object. One that can't be created because its namespace is being deleted isn't a
// failure, and isn't told of (I-18).
type Create struct {
	// Object is of a type of Resources. It may be shared by several actions.
	Object Object
	// Done and Failed are recorded about the object of the pass; empty for none. That the name is taken is a
	// failure, but isn't told of.
	Done, Failed event.Event
}

// Update replaces an object in the very state that was viewed: its resourceVersion is a precondition. If it
// is a conflict, or the object is gone, the plan ends, and another is made.
type Update struct {
	Object Object
	// Status has the status replaced, and nothing else.
	Status       bool
	Done, Failed event.Event
}

// Bind assigns a pod to a node. A pod that can't be assigned any more is a conflict; one whose namespace is being
// deleted stays without, which is no failure.
type Bind struct {
	Pod  *corev1.Pod
	Node string
}

// Delete deletes an object if it still has its uid. One that is gone is no failure.
type Delete struct {
	Object Object
	// Exact makes its resourceVersion a precondition too.
	Exact bool
	// Policy is how dependents are treated; empty for the default of the type.
	Policy metav1.DeletionPropagation
	// Grace is in seconds; nil for what the object says.
	Grace        *int64
	Done, Failed event.Event
}

func (c Create) target() (Object, event.Event, event.Event) { return c.Object, c.Done, c.Failed }
func (u Update) target() (Object, event.Event, event.Event) { return u.Object, u.Done, u.Failed }
func (b Bind) target() (o Object, none, nor event.Event)    { return b.Pod, none, nor }
func (d Delete) target() (Object, event.Event, event.Event) { return d.Object, d.Done, d.Failed }

// String says what it does to what.
func (c Create) String() string {
	name := c.Object.GetName()
	if name == "" {
		name = c.Object.GetGenerateName() + "*"
	}
	return fmt.Sprintf("create %s %s", Of(c.Object).Kind, name)
}

// String says what it does to what.
func (u Update) String() string {
	part := ""
	if u.Status {
		part = "the status of "
	}
	return fmt.Sprintf("update %s%s %s", part, Of(u.Object).Kind, u.Object.GetName())
}

// String says what it does to what.
func (b Bind) String() string { return fmt.Sprintf("bind Pod %s to %s", b.Pod.Name, b.Node) }

// String says what it does to what.
func (d Delete) String() string {
	s := fmt.Sprintf("delete %s %s", Of(d.Object).Kind, d.Object.GetName())
	if d.Policy != "" {
		s += " " + string(d.Policy)
	}
	return s
}

// telling fills in what stands for something in an event's message; ok is false if there is nothing to tell.
func telling(e event.Event, name string, err error) (out event.Event, ok bool) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	e.Message = strings.NewReplacer(Name, name, Problem, problem).Replace(e.Message)
	return e, e.Reason != ""
}

// Normal and Warning return events.
func Normal(reason, message string) event.Event {
	return event.Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}
}

// Warning returns an event that something went wrong.
func Warning(reason, message string) event.Event {
	return event.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}
}
