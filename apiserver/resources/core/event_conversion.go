package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// eventToCore converts an event of events.k8s.io/v1 to the stored core/v1 form.
func eventToCore(obj runtime.Object) (runtime.Object, error) {
	switch e := obj.(type) {
	case *corev1.Event:
		return e, nil
	case *eventsv1.Event:
		return entry.Typed(coreEvent(e.DeepCopy()), corev1.SchemeGroupVersion.WithKind("Event")), nil
	}
	return nil, entry.CannotConvert(obj, "v1")
}

// coreEvent returns the core/v1 form of an event, which shares memory with it. Both forms have the same fields with
// different names (K pkg/apis/events/v1/conversion.go).
func coreEvent(e *eventsv1.Event) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:          e.ObjectMeta,
		InvolvedObject:      e.Regarding,
		Reason:              e.Reason,
		Message:             e.Note,
		Source:              e.DeprecatedSource,
		FirstTimestamp:      e.DeprecatedFirstTimestamp,
		LastTimestamp:       e.DeprecatedLastTimestamp,
		Count:               e.DeprecatedCount,
		Type:                e.Type,
		EventTime:           e.EventTime,
		Series:              (*corev1.EventSeries)(e.Series),
		Action:              e.Action,
		Related:             e.Related,
		ReportingController: e.ReportingController,
		ReportingInstance:   e.ReportingInstance,
	}
}

// eventFromCore converts a stored event to events.k8s.io/v1.
func eventFromCore(obj runtime.Object) (runtime.Object, error) {
	if e, ok := obj.(*eventsv1.Event); ok {
		return e, nil
	}
	e, ok := obj.(*corev1.Event)
	if !ok {
		return nil, entry.CannotConvert(obj, "events.k8s.io/v1")
	}
	e = e.DeepCopy()
	return entry.Typed(&eventsv1.Event{
		ObjectMeta:               e.ObjectMeta,
		EventTime:                e.EventTime,
		Series:                   (*eventsv1.EventSeries)(e.Series),
		ReportingController:      e.ReportingController,
		ReportingInstance:        e.ReportingInstance,
		Action:                   e.Action,
		Reason:                   e.Reason,
		Regarding:                e.InvolvedObject,
		Related:                  e.Related,
		Note:                     e.Message,
		Type:                     e.Type,
		DeprecatedSource:         e.Source,
		DeprecatedFirstTimestamp: e.FirstTimestamp,
		DeprecatedLastTimestamp:  e.LastTimestamp,
		DeprecatedCount:          e.Count,
	}, eventsv1.SchemeGroupVersion.WithKind("Event")), nil
}

// validateGroupedEvent validates an event of events.k8s.io, which may have the Go type of either group.
func validateGroupedEvent(obj, before runtime.Object) field.ErrorList {
	e, old := eventOf(obj), eventOf(before)
	switch {
	case e == nil || before != nil && old == nil:
		return nil
	case old == nil:
		return validateStrictEvent(e)
	}
	return validateStrictEventUpdate(e, old)
}

// validateStrictEvent validates the additional rules of events.k8s.io/v1 for a new event.
func validateStrictEvent(e *corev1.Event) field.ErrorList {
	errs := append(validateEvent(e), eventSeries(e)...)
	errs = append(errs, check.Present(!e.EventTime.IsZero(), field.NewPath("eventTime"), "")...)
	errs = append(errs, check.Reject(e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning,
		field.NewPath("type"), "", fmt.Sprintf("has invalid value: %v", e.Type))...)
	const text = "needs to be unset"
	errs = append(errs, check.Reject(!e.FirstTimestamp.IsZero(), field.NewPath("firstTimestamp"), "", text)...)
	errs = append(errs, check.Reject(!e.LastTimestamp.IsZero(), field.NewPath("lastTimestamp"), "", text)...)
	errs = append(errs, check.Reject(e.Count != 0, field.NewPath("count"), "", text)...)
	return append(errs, check.Reject(e.Source != corev1.EventSource{}, field.NewPath("source"), "", text)...)
}

// validateStrictEventUpdate rejects changes of all fields except the series.
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
	errs = append(errs, check.Reject(e.Series.Count < 2, field.NewPath("series.count"), "", "should be at least 2")...)
	return append(errs,
		check.Present(!e.Series.LastObservedTime.IsZero(), field.NewPath("series.lastObservedTime"), "")...)
}

// eventOf returns the core form of an event of either type, or nil for other objects.
func eventOf(obj runtime.Object) *corev1.Event {
	switch e := obj.(type) {
	case *corev1.Event:
		return e
	case *eventsv1.Event:
		if e != nil {
			return coreEvent(e)
		}
	}
	return nil
}
