package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// localSubjectAccessReviews is the entry of LocalSubjectAccessReview.
func localSubjectAccessReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "localsubjectaccessreviews", New: entry.New[authorizationv1.LocalSubjectAccessReview], Namespaced: true,
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewLocal},
	}
}
