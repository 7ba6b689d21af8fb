package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/discovery"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(discoveryv1.SchemeGroupVersion,
		endpointSlices(),
	))
}
