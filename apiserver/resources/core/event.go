package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/event"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/printing"
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
			Validate:       entry.Validate(event.Validate),
			ValidateUpdate: entry.ValidateAgain(event.Validate),
		},
		Delete: entry.Deletion{Policy: finalizers.Unsupported},
		Selection: entry.Selection{Selectable: append(event.Fields("involvedObject", "reportingComponent"),
			// The last column, so that those before it are those of events.k8s.io, in the same order.
			entry.Field{Label: "source", Paths: []string{"source.component", "reportingComponent"}})},
		Storage: entry.Storage{Expires: true},
		Table:   printing.Table(event.Columns(), event.Cells),
	}
}
