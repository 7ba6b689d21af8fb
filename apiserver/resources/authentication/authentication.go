package authentication

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(authenticationv1.SchemeGroupVersion,
		selfSubjectReviews(),
		tokenReviews(),
	)
}
