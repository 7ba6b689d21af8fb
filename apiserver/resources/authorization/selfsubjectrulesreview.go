package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// selfSubjectRulesReviews is the entry of SelfSubjectRulesReview.
func selfSubjectRulesReviews() *entry.Resource {
	return &entry.Resource{
		Plural: "selfsubjectrulesreviews", New: entry.New[authorizationv1.SelfSubjectRulesReview],
		Served:  entry.Served{Verbs: entry.Post},
		Storage: entry.Storage{Virtual: true},
		Hooks:   entry.Hooks{Create: reviewRules},
	}
}
