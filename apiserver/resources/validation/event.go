package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Event is judged as a core event whichever group serves it. What events.k8s.io demands in addition
// is the business of that group's Kind, which takes both Go types.

const (
	eventWordLimit = 128
	eventNoteLimit = 1024
)

// event is what every event has to fulfil (core legacyValidateEvent).
func event(e *corev1.Event) (errs field.ErrorList) {
	if e.EventTime.IsZero() {
		free := e.InvolvedObject.Namespace == "" && (e.Namespace == metav1.NamespaceNone || e.Namespace == metav1.NamespaceDefault)
		if !free && e.Namespace != e.InvolvedObject.Namespace {
			errs = append(errs, eventNamespace(e))
		}
	} else {
		errs = append(errs, newEvent(e)...)
	}
	return append(errs, subdomain(e.Namespace, field.NewPath("namespace"))...)
}

func eventNamespace(e *corev1.Event) *field.Error {
	return field.Invalid(field.NewPath("involvedObject", "namespace"), e.InvolvedObject.Namespace, "does not match event.namespace")
}

// newEvent is what an event with an eventTime says of its reporter.
func newEvent(e *corev1.Event) (errs field.ErrorList) {
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
		errs = append(errs, eventNamespace(e))
	}
	if e.ReportingController == "" {
		errs = append(errs, field.Required(field.NewPath("reportingController"), ""))
	}
	errs = append(errs, judge(e.ReportingController, field.NewPath("reportingController"), utilvalidation.IsQualifiedName)...)
	for _, word := range []struct{ name, value string }{
		{"reportingInstance", e.ReportingInstance}, {"action", e.Action}, {"reason", e.Reason},
	} {
		if word.value == "" {
			errs = append(errs, field.Required(field.NewPath(word.name), ""))
		}
		errs = append(errs, atMost(eventWordLimit, word.value, word.name)...)
	}
	return append(errs, atMost(eventNoteLimit, e.Message, "message")...)
}

func atMost(limit int, value, name string) field.ErrorList {
	if len(value) <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %v characters", limit))}
}

// strictEvent is what events.k8s.io/v1 demands of a new event.
func strictEvent(e *corev1.Event) field.ErrorList {
	errs := append(event(e), eventSeries(e)...)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type)))
	}
	for _, old := range []struct {
		name string
		set  bool
	}{
		{"firstTimestamp", !e.FirstTimestamp.IsZero()}, {"lastTimestamp", !e.LastTimestamp.IsZero()},
		{"count", e.Count != 0}, {"source", e.Source != corev1.EventSource{}},
	} {
		if old.set {
			errs = append(errs, field.Invalid(field.NewPath(old.name), "", "needs to be unset"))
		}
	}
	return errs
}

// strictEventUpdate lets only the series change.
func strictEventUpdate(e, old *corev1.Event) field.ErrorList {
	errs := event(e)
	if !sameSeries(e.Series, old.Series) {
		errs = append(errs, eventSeries(e)...)
	}
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", e.InvolvedObject, old.InvolvedObject}, {"reason", e.Reason, old.Reason},
		{"message", e.Message, old.Message}, {"source", e.Source, old.Source},
		{"firstTimestamp", e.FirstTimestamp, old.FirstTimestamp}, {"lastTimestamp", e.LastTimestamp, old.LastTimestamp},
		{"count", e.Count, old.Count}, {"reason", e.Reason, old.Reason}, {"type", e.Type, old.Type},
		{"eventTime", e.EventTime, old.EventTime}, {"action", e.Action, old.Action}, {"related", e.Related, old.Related},
		{"reportingController", e.ReportingController, old.ReportingController},
		{"reportingInstance", e.ReportingInstance, old.ReportingInstance},
	} {
		errs = append(errs, immutable(f.now, f.was, field.NewPath(f.name))...)
	}
	return errs
}

func sameSeries(a, b *corev1.EventSeries) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Count == b.Count && a.LastObservedTime.Equal(&b.LastObservedTime)
}

func eventSeries(e *corev1.Event) (errs field.ErrorList) {
	if e.Series == nil {
		return nil
	}
	if e.Series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if e.Series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// eventOf returns the core form of an event of either type, nil for other objects.
func eventOf(obj runtime.Object) *corev1.Event {
	switch e := obj.(type) {
	case *corev1.Event:
		return e
	case *eventsv1.Event:
		if e == nil {
			return nil
		}
		c := &corev1.Event{
			ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Source: e.DeprecatedSource,
			FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount,
			Type: e.Type, EventTime: e.EventTime, Action: e.Action, Related: e.Related,
			ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		}
		if e.Series != nil {
			c.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
		}
		return c
	}
	return nil
}

// strictEvents is the Kind of events.k8s.io.
var strictEvents = Kind{
	Create: func(obj runtime.Object) field.ErrorList {
		if e := eventOf(obj); e != nil {
			return strictEvent(e)
		}
		return nil
	},
	Update: func(obj, before runtime.Object) field.ErrorList {
		e, old := eventOf(obj), eventOf(before)
		if e == nil || old == nil {
			return nil
		}
		return strictEventUpdate(e, old)
	},
}
