package resources

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// tokenReviews is the entry of TokenReview.
func tokenReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "tokenreviews", New: entry.New[authenticationv1.TokenReview],
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewToken},
	}
}
