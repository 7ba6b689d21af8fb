package printers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func eventColumns() []Column {
	doc, object := corev1.Event{}.SwaggerDoc(), corev1.ObjectReference{}.SwaggerDoc()
	return []Column{
		text("Last Seen", doc["lastTimestamp"]),
		text("Type", doc["type"]),
		text("Reason", doc["reason"]),
		text("Object", doc["involvedObject"]),
		wide(text("Subobject", object["fieldPath"])),
		wide(text("Source", doc["source"])),
		text("Message", doc["message"]),
		wide(text("First Seen", doc["firstTimestamp"])),
		wide(text("Count", doc["count"])),
		wide(nameColumn),
	}
}

func eventCells(e *corev1.Event, now time.Time) []any {
	first, last, count := occurrences(e)
	object := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		object += "/" + e.InvolvedObject.Name
	}
	return []any{
		Age(last, now),
		e.Type,
		e.Reason,
		object,
		e.InvolvedObject.FieldPath,
		eventSource(e),
		strings.TrimSpace(e.Message),
		Age(first, now),
		count,
		e.Name,
	}
}

// occurrences reads both ways of counting: firstTimestamp, lastTimestamp and count of old
// recorders, eventTime and series of new ones, where an event that happened once has no count.
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
	component, instance := or(e.Source.Component, e.ReportingController), or(e.Source.Host, e.ReportingInstance)
	if instance == "" {
		return component
	}
	return component + ", " + instance
}
