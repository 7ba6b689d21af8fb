package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// strictCreate validates a new event of events.k8s.io, of either version.
func strictCreate(obj runtime.Object) field.ErrorList {
	if e := eventOf(obj); e != nil {
		return validateStrictEvent(e)
	}
	return nil
}

// strictUpdate validates a changed event of events.k8s.io, of either version.
func strictUpdate(obj, before runtime.Object) field.ErrorList {
	e, old := eventOf(obj), eventOf(before)
	if e == nil || old == nil {
		return nil
	}
	return validateStrictEventUpdate(e, old)
}

// validateStrictEvent validates the additional rules of events.k8s.io/v1 for a new event.
func validateStrictEvent(e *corev1.Event) field.ErrorList {
	errs := append(validateEvent(e), eventSeries(e)...)
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

// validateStrictEventUpdate makes everything but the series immutable.
func validateStrictEventUpdate(e, old *corev1.Event) field.ErrorList {
	errs := validateEvent(e)
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
		errs = append(errs, check.Immutable(f.now, f.was, field.NewPath(f.name))...)
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
