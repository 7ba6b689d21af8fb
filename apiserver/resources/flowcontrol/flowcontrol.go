package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/flowcontrol"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(flowcontrolv1.SchemeGroupVersion,
		flowSchemas(),
		priorityLevelConfigurations(),
	))
}
