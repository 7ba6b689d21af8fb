package resources

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func selfSubjectReviews() *entry.Resource {
	return entry.Reviews("selfsubjectreviews", false, validateSelfSubjectReview, reviewSelf)
}

func validateSelfSubjectReview(entry.Request, *authenticationv1.SelfSubjectReview) error { return nil }

// reviewSelf returns the user of the request.
func reviewSelf(_ context.Context, r entry.Request, v *authenticationv1.SelfSubjectReview) {
	v.Status.UserInfo = entry.InfoOf(r.User())
	v.CreationTimestamp = metav1.Time{Time: r.Now()}
}
