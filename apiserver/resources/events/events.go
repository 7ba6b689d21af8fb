package events

import (
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(eventsv1.SchemeGroupVersion,
		events(),
	)
}
