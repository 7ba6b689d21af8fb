package resources

import authorizationv1 "k8s.io/api/authorization/v1"

func authorization() []*Resource {
	return group(authorizationv1.SchemeGroupVersion,
		&Resource{Plural: "localsubjectaccessreviews", New: of[authorizationv1.LocalSubjectAccessReview], Namespaced: true,
			Verbs: post, Virtual: LocalAccessReview},
		&Resource{Plural: "selfsubjectaccessreviews", New: of[authorizationv1.SelfSubjectAccessReview], Verbs: post, Virtual: SelfAccessReview},
		&Resource{Plural: "selfsubjectrulesreviews", New: of[authorizationv1.SelfSubjectRulesReview], Verbs: post, Virtual: SelfRulesReview},
		&Resource{Plural: "subjectaccessreviews", New: of[authorizationv1.SubjectAccessReview], Verbs: post, Virtual: SubjectAccessReview},
	)
}
