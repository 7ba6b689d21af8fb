package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// selfSubjectAccessReviews is the entry of SelfSubjectAccessReview.
func selfSubjectAccessReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "selfsubjectaccessreviews", New: entry.New[authorizationv1.SelfSubjectAccessReview],
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewSelf},
	}
}
