package scheduling

import (
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(schedulingv1.SchemeGroupVersion,
		priorityClasses(),
	)
}
