package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(discoveryv1.SchemeGroupVersion,
		endpointSlices(),
	))
}
