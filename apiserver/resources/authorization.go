package resources

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/authorization/review"
	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
)

func authorization() []*Resource {
	return group(authorizationv1.SchemeGroupVersion,
		&Resource{Plural: "localsubjectaccessreviews", New: of[authorizationv1.LocalSubjectAccessReview], Namespaced: true,
			Verbs: post, Virtual: true, Hooks: hooks.Hooks{Create: review.Local}},
		&Resource{Plural: "selfsubjectaccessreviews", New: of[authorizationv1.SelfSubjectAccessReview], Verbs: post,
			Virtual: true, Hooks: hooks.Hooks{Create: review.Self}},
		&Resource{Plural: "selfsubjectrulesreviews", New: of[authorizationv1.SelfSubjectRulesReview], Verbs: post,
			Virtual: true, Hooks: hooks.Hooks{Create: review.Rules}},
		&Resource{Plural: "subjectaccessreviews", New: of[authorizationv1.SubjectAccessReview], Verbs: post,
			Virtual: true, Hooks: hooks.Hooks{Create: review.Subject}},
	)
}
