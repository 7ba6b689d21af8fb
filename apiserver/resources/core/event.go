package core

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/finalizers"
)

func events() *entry.Resource {
	return &entry.Resource{
		Plural: "events", New: entry.New[corev1.Event], Namespaced: true,
		ShortNames: []string{"ev"},
		Strategy: entry.Strategy{
			// ValidateEventCreate: the name of an event of this version must only be a path segment.
			CreateOnUpdate: true,
			Metadata:       entry.Metadata{Plain: true},
			Validate:       entry.Validate(validateEvent),
		},
		Delete: entry.Deletion{Policy: finalizers.Unsupported},
		Selection: entry.Selection{Selectable: append(eventFields("involvedObject", "reportingComponent"),
			// This field is the last one, so the fields before it are those of events.k8s.io in the same order.
			entry.Field{Label: "source", Paths: []string{"source.component", "reportingComponent"}})},
		Storage: entry.Storage{Expires: true},
		Table:   eventTable(),
	}
}

// groupedEvents returns the entry of Event of the group events.k8s.io, which is stored as an Event of the core group.
func groupedEvents() *entry.Resource {
	return &entry.Resource{
		Plural: "events", New: entry.New[eventsv1.Event], Namespaced: true,
		ShortNames: []string{"ev"},
		Storage: entry.Storage{
			Stored: corev1.SchemeGroupVersion.WithKind("Event"), ToStored: eventToCore,
			FromStored: eventFromCore, Expires: true,
		},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Validate:       validateGroupedEvent,
		},
		Delete:    entry.Deletion{Policy: finalizers.Unsupported},
		Selection: entry.Selection{Selectable: eventFields("regarding", "reportingController")},
		Table:     eventTable(),
	}
}

// All events are validated as core events. The additional rules of events.k8s.io are in event_conversion.go, whose
// hooks accept both Go types.

const (
	eventWordLimit = 128
	eventNoteLimit = 1024
)

// validateEvent validates the rules for every event (core legacyValidateEvent).
func validateEvent(e *corev1.Event) (errs field.ErrorList) {
	if e.EventTime.IsZero() {
		free := e.InvolvedObject.Namespace == "" &&
			(e.Namespace == metav1.NamespaceNone || e.Namespace == metav1.NamespaceDefault)
		if !free && e.Namespace != e.InvolvedObject.Namespace {
			errs = append(errs, eventNamespace(e))
		}
	} else {
		errs = append(errs, newEvent(e)...)
	}
	return append(errs, check.DNSSubdomain(e.Namespace, field.NewPath("namespace"))...)
}

func eventNamespace(e *corev1.Event) *field.Error {
	return field.Invalid(
		field.NewPath("involvedObject", "namespace"), e.InvolvedObject.Namespace, "does not match event.namespace",
	)
}

// newEvent validates the reporter of an event that has an eventTime.
func newEvent(e *corev1.Event) (errs field.ErrorList) {
	if e.InvolvedObject.Namespace == "" && e.Namespace != metav1.NamespaceDefault &&
		e.Namespace != metav1.NamespaceSystem {
		errs = append(errs, eventNamespace(e))
	}
	errs = append(errs, check.RequireAll(nil, "reportingController", e.ReportingController)...)
	errs = append(errs, check.QualifiedName(e.ReportingController, field.NewPath("reportingController"))...)
	for _, word := range []struct{ name, value string }{
		{"reportingInstance", e.ReportingInstance}, {"action", e.Action}, {"reason", e.Reason},
	} {
		errs = append(errs, check.RequireAll(nil, word.name, word.value)...)
		errs = append(errs, atMost(eventWordLimit, word.value, word.name)...)
	}
	return append(errs, atMost(eventNoteLimit, e.Message, "message")...)
}

func atMost(limit int, value, name string) field.ErrorList {
	return check.Reject(len(value) > limit, field.NewPath(name), "", fmt.Sprintf("can have at most %v characters", limit))
}

// eventTable returns the table of both kinds of Event.
func eventTable() entry.Table {
	doc, object := corev1.Event{}.SwaggerDoc(), corev1.ObjectReference{}.SwaggerDoc()
	return entry.TableOf([]entry.Column{
		entry.Text("Last Seen", doc["lastTimestamp"]),
		entry.Text("Type", doc["type"]),
		entry.Text("Reason", doc["reason"]),
		entry.Text("Object", doc["involvedObject"]),
		entry.Wide(entry.Text("Subobject", object["fieldPath"])),
		entry.Wide(entry.Text("Source", doc["source"])),
		entry.Text("Message", doc["message"]),
		entry.Wide(entry.Text("First Seen", doc["firstTimestamp"])),
		entry.Wide(entry.Text("Count", doc["count"])),
		entry.Wide(entry.NameColumn),
	}, func(e *corev1.Event, now time.Time) []any {
		first, last, count := occurrences(e)
		object := strings.ToLower(e.InvolvedObject.Kind)
		if e.InvolvedObject.Name != "" {
			object += "/" + e.InvolvedObject.Name
		}
		return []any{
			entry.Age(last, now),
			e.Type,
			e.Reason,
			object,
			e.InvolvedObject.FieldPath,
			eventSource(e),
			strings.TrimSpace(e.Message),
			entry.Age(first, now),
			count,
			e.Name,
		}
	})
}

// occurrences returns the times and the count of an event in either format. Old recorders set firstTimestamp,
// lastTimestamp and count. New ones set eventTime and series, and a single event has no count.
func occurrences(e *corev1.Event) (first, last time.Time, count int64) {
	first = e.FirstTimestamp.Time
	if first.IsZero() {
		first = e.EventTime.Time
	}
	if e.Series != nil {
		return first, e.Series.LastObservedTime.Time, int64(e.Series.Count)
	}
	last = e.LastTimestamp.Time
	if last.IsZero() {
		last = first
	}
	if e.Count == 0 {
		return first, last, 1
	}
	return first, last, int64(e.Count)
}

func eventSource(e *corev1.Event) string {
	component := cmp.Or(e.Source.Component, e.ReportingController)
	if instance := cmp.Or(e.Source.Host, e.ReportingInstance); instance != "" {
		return component + ", " + instance
	}
	return component
}

// eventFields returns the selectable fields of an event version. The two versions have different labels. The paths are
// those of the stored JSON, which is v1's.
func eventFields(object, controller string) []entry.Field {
	var s []entry.Field
	for _, f := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		s = append(s, entry.Field{Label: object + "." + f, Paths: []string{"involvedObject." + f}})
	}
	return append(s, entry.Field{Label: "reason"},
		entry.Field{Label: controller, Paths: []string{"reportingComponent"}}, entry.Field{Label: "type"})
}
