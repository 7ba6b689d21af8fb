package resources

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubecascade/kubecascade/finalizers"
)

// EventTTL is how long an event is kept. Set it before serving; it is not locked.
var EventTTL = time.Hour

func eventTTL() time.Duration { return EventTTL }

func events() []*Resource {
	return group(eventsv1.SchemeGroupVersion,
		&Resource{Plural: "events", New: of[eventsv1.Event], Namespaced: true, ShortNames: []string{"ev"},
			Stored:   corev1.SchemeGroupVersion.WithKind("Event"),
			ToStored: eventToCore, FromStored: eventFromCore,
			Strategy: Strategy{CreateOnUpdate: true},
			Delete:   Deletion{Policy: finalizers.Unsupported}, TTL: eventTTL},
	)
}
