package apiserver

import (
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
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
	if err := registry.MatchNamespace(q.Resource, tr, q.Namespace); err != nil {
		return err
	}
	a := q.Attributes(admission.Create, tr, nil)
	if err := s.registry.Admission.Admit(q.r.Context(), a); err != nil { // B-72, B-73
		return err
	}
	account, err := q.accountOf(tr)
	if err != nil {
		return err
	}
	if s.config.Accounts == nil {
		return status.ErrNoTokens
	}
	life := int64(tokenLife)
	if tr.Spec.ExpirationSeconds != nil {
		life = *tr.Spec.ExpirationSeconds
	}
	tr.Spec.ExpirationSeconds = &life
	if errs := validateTokenRequest(tr); len(errs) > 0 {
		return invalid.New(tokenRequestKind.GroupKind(), "", errs)
	}
	if err := s.registry.Admission.Validate(q.r.Context(), a); err != nil {
		return err
	}
	if len(tr.Spec.Audiences) == 0 {
		tr.Spec.Audiences = s.config.Accounts.Audiences()
	}
	now := s.now()
	expires := now.Add(time.Duration(life) * time.Second)
	claim := auth.Claim{Namespace: q.Namespace, Name: q.Name, UID: account.Meta.UID, Audiences: tr.Spec.Audiences, Issued: now, Expires: expires}
	if tr.Spec.BoundObjectRef != nil {
		if err := s.bindToken(q, tr.Spec.BoundObjectRef, &claim); err != nil {
			return err
		}
	}
	if tr.Status.Token, err = s.config.Accounts.Issue(claim); err != nil {
		return err
	}
	tr.Status.ExpirationTimestamp = metav1.Time{Time: expires}
	tr.Name, tr.Namespace, tr.UID, tr.CreationTimestamp = q.Name, q.Namespace, types.UID(account.Meta.UID), metav1.Time{Time: now}
	tr.GetObjectKind().SetGroupVersionKind(tokenRequestKind)
	return q.answerOther(x, http.StatusCreated, tr)
}

// accountOf returns the account that the token is for, which must be the one that the request names, if it
// does (K pkg/registry/core/serviceaccount/storage/token.go: Create).
func (q *request) accountOf(tr *authenticationv1.TokenRequest) (*storage.Object, error) {
	if tr.Name != "" && tr.Name != q.Name {
		return nil, invalid.New(tokenRequestKind.GroupKind(), q.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), tr.Name, "must match the service account name if specified")})
	}
	account, err := q.s.registry.Get(q.r.Context(), &q.Operation, "")
	if err == nil && tr.UID != "" && string(tr.UID) != account.Meta.UID {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: tokenRequestKind.Group, Resource: tokenRequestKind.Kind}, q.Name, fmt.Errorf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", tr.UID, account.Meta.UID))
	}
	return account, err
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

// bindToken adds to a claim what the token is to end with.
func (s *Server) bindToken(q *request, ref *authenticationv1.BoundObjectReference, c *auth.Claim) error {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	plural := map[string]string{"Pod": "pods", "Secret": "secrets", "Node": "nodes"}[kind.Kind]
	if kind.Group != "" || plural == "" {
		return status.BadRequest("cannot bind token to object of type %s", kind)
	}
	on := registry.Operation{Target: registry.Target{Resource: s.registry.Types.Lookup("", "v1", plural), Name: ref.Name, Namespace: q.Namespace}}
	if plural == "nodes" {
		on.Namespace = ""
	}
	if len(path.IsValidPathSegmentName(ref.Name)) > 0 || ref.Name == "" {
		return on.NotFound()
	}
	o, err := s.registry.Get(q.r.Context(), &on, "")
	if err != nil {
		return err
	}
	r := &auth.Ref{Name: ref.Name, UID: o.Meta.UID}
	switch plural {
	case "secrets":
		c.Secret = r
	case "nodes":
		c.Node = r
	case "pods":
		c.Pod = r
		if c.Node, err = s.nodeOfPod(q, &on, o); err != nil {
			return err
		}
	}
	if ref.UID != "" && string(ref.UID) != o.Meta.UID {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, ref.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}

// nodeOfPod is where a pod runs, which its token tells; nil if it runs nowhere.
func (s *Server) nodeOfPod(q *request, on *registry.Operation, o *storage.Object) (*auth.Ref, error) {
	obj, err := on.Decode(o)
	if err != nil {
		return nil, err
	}
	spec := &obj.(*corev1.Pod).Spec
	if spec.ServiceAccountName != q.Name {
		return nil, status.BadRequest("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", q.Name)
	}
	if spec.NodeName == "" {
		return nil, nil
	}
	r := &auth.Ref{Name: spec.NodeName}
	if uid, _, ok := (&boundObjects{q.r.Context(), s}).Bound("nodes", "", spec.NodeName); ok {
		r.UID = uid
	}
	return r, nil
}
