package resources

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/authentication/review"
	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
)

func authentication() []*Resource {
	return group(authenticationv1.SchemeGroupVersion,
		&Resource{Plural: "selfsubjectreviews", New: of[authenticationv1.SelfSubjectReview], Verbs: post,
			Virtual: true, Hooks: hooks.Hooks{Create: review.Self}},
		&Resource{Plural: "tokenreviews", New: of[authenticationv1.TokenReview], Verbs: post,
			Virtual: true, Hooks: hooks.Hooks{Create: review.Token}},
	)
}
