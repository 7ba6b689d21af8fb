package resources

import authenticationv1 "k8s.io/api/authentication/v1"

func authentication() []*Resource {
	return group(authenticationv1.SchemeGroupVersion,
		&Resource{Plural: "selfsubjectreviews", New: of[authenticationv1.SelfSubjectReview], Verbs: post, Virtual: SelfSubjectReview},
		&Resource{Plural: "tokenreviews", New: of[authenticationv1.TokenReview], Verbs: post, Virtual: TokenReview},
	)
}
