package dra

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds: one line a kind.
func Resources() []*entry.Resource {
	return entry.Group(resourcev1.SchemeGroupVersion,
		deviceClasses(),
		resourceClaims(),
		resourceClaimTemplates(),
		resourceSlices(),
	)
}
