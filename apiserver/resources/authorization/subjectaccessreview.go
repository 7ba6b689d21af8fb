package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// subjectAccessReviews is the entry of SubjectAccessReview.
func subjectAccessReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "subjectaccessreviews", New: entry.New[authorizationv1.SubjectAccessReview],
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewSubject},
	}
}
