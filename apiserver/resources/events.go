package resources

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubecascade/kubecascade/finalizers"
)

func events() []*Resource {
	return group(eventsv1.SchemeGroupVersion,
		&Resource{Plural: "events", New: of[eventsv1.Event], Namespaced: true, ShortNames: []string{"ev"},
			Stored:   corev1.SchemeGroupVersion.WithKind("Event"),
			ToStored: eventToCore, FromStored: eventFromCore,
			Strategy: Strategy{CreateOnUpdate: true},
			Delete:   Deletion{Policy: finalizers.Unsupported}, Expires: true},
	)
}
