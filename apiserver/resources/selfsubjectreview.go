package resources

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// selfSubjectReviews is the entry of SelfSubjectReview.
func selfSubjectReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "selfsubjectreviews", New: entry.New[authenticationv1.SelfSubjectReview],
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewSelf},
	}
}
