package authorization

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func selfSubjectAccessReviews() *entry.Resource {
	return entry.Reviews("selfsubjectaccessreviews", false, validateSelf, reviewSelf)
}

func validateSelf(r entry.Request, v *authorizationv1.SelfSubjectAccessReview) error {
	return validate("SelfSubjectAccessReview", &v.ObjectMeta, ofSelf(r, &v.Spec))
}

// reviewSelf reports whether the user of the request has a permission.
func reviewSelf(_ context.Context, r entry.Request, v *authorizationv1.SelfSubjectAccessReview) {
	v.Status = access(r, ofSelf(r, &v.Spec))
}

func ofSelf(
	r entry.Request, s *authorizationv1.SelfSubjectAccessReviewSpec,
) *authorizationv1.SubjectAccessReviewSpec {
	u := r.User()
	return &authorizationv1.SubjectAccessReviewSpec{User: u.Name, Groups: u.Groups, UID: u.UID,
		ResourceAttributes: s.ResourceAttributes, NonResourceAttributes: s.NonResourceAttributes}
}
