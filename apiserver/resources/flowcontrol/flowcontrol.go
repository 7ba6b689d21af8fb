package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(flowcontrolv1.SchemeGroupVersion,
		flowSchemas(),
		priorityLevelConfigurations(),
	))
}
