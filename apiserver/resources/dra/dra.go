package dra

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(resourcev1.SchemeGroupVersion,
		deviceClasses(),
		resourceClaims(),
		resourceClaimTemplates(),
		resourceSlices(),
	)
}
