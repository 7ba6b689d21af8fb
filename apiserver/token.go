package apiserver

import (
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/auth"
)

var tokenRequestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// Bounds of a token's life (K pkg/registry/core/serviceaccount/storage/token.go).
const (
	tokenLife    = 3600
	minTokenLife = 600
	maxTokenLife = 1 << 32
)

// serveToken is POST of serviceaccounts/token: a signed token for the account.
func (s *Server) serveToken(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, _, err := q.creation()
	if err != nil {
		return err
	}
	obj, err := q.other(b, tokenRequestKind)
	if err != nil {
		return err
	}
	tr := obj.(*authenticationv1.TokenRequest)
	a := q.attributes(admission.Create, tr, nil)
	if err := s.admission.Admit(q.r.Context(), a); err != nil { // B-72, B-73
		return err
	}
	account, err := s.get(q.r.Context(), &q.op, "")
	if err != nil {
		return err
	}
	if s.config.Tokens == nil {
		return errNoTokens
	}
	life := int64(tokenLife)
	if tr.Spec.ExpirationSeconds != nil {
		life = *tr.Spec.ExpirationSeconds
	}
	tr.Spec.ExpirationSeconds = &life
	if errs := validateTokenRequest(tr); len(errs) > 0 {
		return apierrors.NewInvalid(tokenRequestKind.GroupKind(), "", errs)
	}
	if err := s.admission.Validate(q.r.Context(), a); err != nil {
		return err
	}
	if len(tr.Spec.Audiences) == 0 {
		tr.Spec.Audiences = s.config.Tokens.Audiences()
	}
	now := s.now()
	expires := now.Add(time.Duration(life) * time.Second)
	tr.Status.Token, err = s.config.Tokens.Issue(auth.Claim{
		Namespace: q.namespace, Name: q.name, UID: account.Meta.UID, Audiences: tr.Spec.Audiences, Issued: now, Expires: expires})
	if err != nil {
		return err
	}
	tr.Status.ExpirationTimestamp = metav1.Time{Time: expires}
	tr.Name, tr.Namespace, tr.CreationTimestamp = q.name, q.namespace, metav1.Time{Time: now}
	tr.GetObjectKind().SetGroupVersionKind(tokenRequestKind)
	return q.answerOther(x, http.StatusCreated, tr)
}

func validateTokenRequest(tr *authenticationv1.TokenRequest) (errs field.ErrorList) {
	p, life := field.NewPath("spec", "expirationSeconds"), *tr.Spec.ExpirationSeconds
	if life < minTokenLife {
		errs = append(errs, field.Invalid(p, life, "may not specify a duration less than 10 minutes"))
	}
	if life > maxTokenLife {
		errs = append(errs, field.Invalid(p, life, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}
