package authorization

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func subjectAccessReviews() *entry.Resource {
	return entry.Reviews("subjectaccessreviews", false, validateSubject, reviewSubject)
}

func validateSubject(_ entry.Request, v *authorizationv1.SubjectAccessReview) error {
	return validate("SubjectAccessReview", &v.ObjectMeta, &v.Spec)
}

// reviewSubject reports whether a user has a permission, in any namespace.
func reviewSubject(_ context.Context, r entry.Request, v *authorizationv1.SubjectAccessReview) {
	v.Status = access(r, &v.Spec)
}
