package node

import (
	nodev1 "k8s.io/api/node/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(nodev1.SchemeGroupVersion,
		runtimeClasses(),
	))
}
