package core

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// eventToCore converts an event of events.k8s.io/v1 to the stored core/v1 form. The two have the same fields with
// different names (K pkg/apis/events/v1/conversion.go).
func eventToCore(obj runtime.Object) (runtime.Object, error) {
	if e, ok := obj.(*corev1.Event); ok {
		return e, nil
	}
	e, ok := obj.(*eventsv1.Event)
	if !ok {
		return nil, entry.CannotConvert(obj, "v1")
	}
	e = e.DeepCopy()
	return entry.Typed(&corev1.Event{
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
	}, corev1.SchemeGroupVersion.WithKind("Event")), nil
}

// eventFromCore is the inverse of eventToCore.
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
