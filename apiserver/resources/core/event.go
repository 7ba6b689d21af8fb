package core

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/finalizers"
)

// events is the entry of Event.
func events() *entry.Resource {
	return &entry.Resource{
		Plural: "events", New: entry.New[corev1.Event], Namespaced: true,
		ShortNames: []string{"ev"},
		Strategy: entry.Strategy{
			// ValidateEventCreate only requires that the name of an event of this version is a path segment.
			CreateOnUpdate: true,
			Metadata:       entry.Metadata{Plain: true},
			Validate:       entry.Validate(validateEvent),
			ValidateUpdate: entry.ValidateAgain(validateEvent),
		},
		Delete: entry.Deletion{Policy: finalizers.Unsupported},
		Selection: entry.Selection{Selectable: append(eventFields("involvedObject", "reportingComponent"),
			// The last column, so that those before it are those of events.k8s.io, in the same order.
			entry.Field{Label: "source", Paths: []string{"source.component", "reportingComponent"}})},
		Storage: entry.Storage{Expires: true},
		Table:   entry.TableOf(eventColumns(), eventCells),
	}
}

// groupedEvents is the entry of Event of the group events.k8s.io, which is stored as an Event of the core group.
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
			Validate:       strictCreate,
			ValidateUpdate: strictUpdate,
		},
		Delete:    entry.Deletion{Policy: finalizers.Unsupported},
		Selection: entry.Selection{Selectable: eventFields("regarding", "reportingController")},
		Table:     entry.TableOf(eventColumns(), eventCells),
	}
}
