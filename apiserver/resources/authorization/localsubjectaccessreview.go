package authorization

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func localSubjectAccessReviews() *entry.Resource {
	return entry.Reviews("localsubjectaccessreviews", true, validateLocal, reviewLocal)
}

func validateLocal(r entry.Request, v *authorizationv1.LocalSubjectAccessReview) error {
	if err := validate(local, &v.ObjectMeta, &v.Spec); err != nil {
		return err
	}
	if namespace := r.Namespace(); v.Namespace != namespace { // mutating admission has changed it
		return apierrors.NewBadRequest("spec.resourceAttributes.namespace must match namespace: " + namespace)
	}
	return nil
}

// reviewLocal reports whether a user has a permission in one namespace.
func reviewLocal(_ context.Context, r entry.Request, v *authorizationv1.LocalSubjectAccessReview) {
	v.Status = access(r, &v.Spec)
}
