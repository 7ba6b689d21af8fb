package resources

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func tokenReviews() *entry.Resource {
	return entry.Reviews("tokenreviews", false, validateTokenReview, reviewToken)
}

func validateTokenReview(_ entry.Request, v *authenticationv1.TokenReview) error {
	if v.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	return nil
}

// reviewToken returns the user of a token (K pkg/registry/authentication/tokenreview/storage.go).
func reviewToken(ctx context.Context, r entry.Request, v *authenticationv1.TokenReview) {
	v.Status = authenticationv1.TokenReviewStatus{}
	u, audiences, err := r.Authenticate(ctx, v.Spec.Token, v.Spec.Audiences)
	if err != nil {
		v.Status.Error = err.Error()
		return
	}
	v.Status.Authenticated, v.Status.User, v.Status.Audiences = true, entry.InfoOf(u), audiences
}
