package resources

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// reviewSelf handles a SelfSubjectReview: it returns the user of the request.
func reviewSelf(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	v := body.(*authenticationv1.SelfSubjectReview)
	if err := r.CheckManagers(v); err != nil {
		return nil, err
	}
	if err := entry.AdmitBody(ctx, r, v, func() error { return nil }); err != nil {
		return nil, err
	}
	v.Status.UserInfo = userInfo(r.User())
	v.CreationTimestamp = metav1.Time{Time: r.Now()}
	return v, nil
}

// reviewToken handles a TokenReview: it returns the user of a token (K
// pkg/registry/authentication/tokenreview/storage.go).
func reviewToken(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	v := body.(*authenticationv1.TokenReview)
	if err := r.CheckManagers(v); err != nil {
		return nil, err
	}
	if err := entry.AdmitBody(ctx, r, v, func() error {
		if v.Spec.Token == "" {
			return apierrors.NewBadRequest("token is required for TokenReview in authentication")
		}
		return nil
	}); err != nil {
		return nil, err
	}
	v.Status = authenticationv1.TokenReviewStatus{}
	u, audiences, err := r.Authenticate(ctx, v.Spec.Token, v.Spec.Audiences)
	if err != nil {
		v.Status.Error = err.Error()
		return v, nil
	}
	v.Status.Authenticated, v.Status.User, v.Status.Audiences = true, userInfo(u), audiences
	return v, nil
}

func userInfo(u authorization.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[k] = v
	}
	return info
}
