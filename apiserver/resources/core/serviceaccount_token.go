package core

import (
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var tokenRequestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// Limits of a token's lifetime (K pkg/registry/core/serviceaccount/storage/token.go).
const (
	tokenLife    = 3600
	minTokenLife = 600
	maxTokenLife = 1 << 32
)

// createToken handles POST of serviceaccounts/token: it returns a signed token for the account.
func createToken(ctx context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
	tr := body.(*authenticationv1.TokenRequest)
	if err := r.MatchNamespace(tr); err != nil {
		return nil, err
	}
	if err := r.Admit(ctx, tr); err != nil { // B-72, B-73
		return nil, err
	}
	account, err := accountOf(ctx, r, tr)
	if err != nil {
		return nil, err
	}
	tokens, err := r.Tokens()
	if err != nil {
		return nil, err
	}
	life := int64(tokenLife)
	if tr.Spec.ExpirationSeconds != nil {
		life = *tr.Spec.ExpirationSeconds
	}
	tr.Spec.ExpirationSeconds = &life
	if errs := validateTokenRequest(tr); len(errs) > 0 {
		return nil, invalid.New(tokenRequestKind.GroupKind(), "", errs)
	}
	if err := r.Validate(ctx, tr); err != nil {
		return nil, err
	}
	return tr, issueToken(ctx, r, tr, account, tokens)
}

// issueToken signs the token and sets it in the request.
func issueToken(ctx context.Context, r entry.Request, tr *authenticationv1.TokenRequest, account entry.Object,
	tokens entry.Tokens) (err error) {
	if len(tr.Spec.Audiences) == 0 {
		tr.Spec.Audiences = tokens.Audiences()
	}
	now := r.Now()
	expires := now.Add(time.Duration(*tr.Spec.ExpirationSeconds) * time.Second)
	claim := authorization.TokenClaim{Namespace: r.Namespace(), Name: r.Name(), UID: string(account.GetUID()),
		Audiences: tr.Spec.Audiences, Issued: now, Expires: expires}
	if tr.Spec.BoundObjectRef != nil {
		if err := bindToken(ctx, r, tr.Spec.BoundObjectRef, &claim); err != nil {
			return err
		}
	}
	if tr.Status.Token, err = tokens.Issue(claim); err != nil {
		return err
	}
	tr.Status.ExpirationTimestamp = metav1.Time{Time: expires}
	tr.Name, tr.Namespace, tr.UID = r.Name(), r.Namespace(), account.GetUID()
	tr.CreationTimestamp = metav1.Time{Time: now}
	return nil
}

// accountOf returns the account of the token. A UID in the request must be that of the account (K
// pkg/registry/core/serviceaccount/storage/token.go: Create).
func accountOf(ctx context.Context, r entry.Request, tr *authenticationv1.TokenRequest) (entry.Object, error) {
	if tr.Name != "" && tr.Name != r.Name() {
		return nil, invalid.New(tokenRequestKind.GroupKind(), r.Name(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), tr.Name, "must match the service account name if specified")})
	}
	account, err := r.Current(ctx)
	if err == nil && tr.UID != "" && tr.UID != account.GetUID() {
		kind := schema.GroupResource{Group: tokenRequestKind.Group, Resource: tokenRequestKind.Kind}
		return nil, apierrors.NewConflict(kind, r.Name(), fmt.Errorf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", tr.UID, account.GetUID()))
	}
	return account, err
}

// validateTokenRequest validates the lifetime. Only a token for a webhook may have attestations (V-023, K
// pkg/apis/authentication/validation/validation.go: ValidateTokenRequest).
func validateTokenRequest(tr *authenticationv1.TokenRequest) (errs field.ErrorList) {
	if list := tr.Spec.Attestations; len(list) > 0 && !ofWebhook(tr.Spec.BoundObjectRef) {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "attestations"), list,
			"attestations may only be specified with a webhook bound object reference")}
	}
	p, life := field.NewPath("spec", "expirationSeconds"), *tr.Spec.ExpirationSeconds
	errs = append(errs, check.Reject(life < minTokenLife, p, life, "may not specify a duration less than 10 minutes")...)
	return append(errs, check.Reject(life > maxTokenLife, p, life,
		"may not specify a duration larger than 2^32 seconds")...)
}

// ofWebhook reports whether a token is bound to a webhook configuration.
func ofWebhook(to *authenticationv1.BoundObjectReference) bool {
	return to != nil && to.APIVersion == admissionregistrationv1.SchemeGroupVersion.String() &&
		(to.Kind == "ValidatingWebhookConfiguration" || to.Kind == "MutatingWebhookConfiguration")
}

// tokenBound are the resources to whose objects a token may be bound, by kind.
var tokenBound = map[string]schema.GroupVersionResource{
	"Pod":    podResource,
	"Secret": corev1.SchemeGroupVersion.WithResource("secrets"),
	"Node":   nodeResource,
}

var (
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
	podResource  = corev1.SchemeGroupVersion.WithResource("pods")
)

// bindToken adds to a claim the object to which the token is bound.
func bindToken(
	ctx context.Context, r entry.Request, to *authenticationv1.BoundObjectReference, c *authorization.TokenClaim,
) error {
	kind := schema.FromAPIVersionAndKind(to.APIVersion, to.Kind)
	if ofWebhook(to) { // the gate for such tokens is off
		return apierrors.NewBadRequest(fmt.Sprintf(
			"cannot bind token to object of type %s (feature gate APIServerWebhookAuthenticationToken is disabled)", kind))
	}
	ref := entry.Reference{Resource: tokenBound[kind.Kind], Namespace: r.Namespace(), Name: to.Name}
	if kind.Group != "" || ref.Resource.Empty() {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", kind))
	}
	if ref.Resource == nodeResource {
		ref.Namespace = ""
	}
	if len(pathvalidation.IsValidPathSegmentName(to.Name)) > 0 || to.Name == "" {
		return apierrors.NewNotFound(ref.Resource.GroupResource(), to.Name)
	}
	obj, err := r.Get(ctx, ref)
	if err != nil {
		return err
	}
	own := &authorization.TokenRef{Name: to.Name, UID: string(obj.GetUID())}
	switch obj := obj.(type) {
	case *corev1.Secret:
		c.Secret = own
	case *corev1.Node:
		c.Node = own
	case *corev1.Pod:
		c.Pod = own
		if c.Node, err = nodeOf(ctx, r, &obj.Spec); err != nil {
			return err
		}
	}
	if to.UID != "" && to.UID != obj.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, to.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. "+
				"The object might have been deleted and then recreated", to.UID))
	}
	return nil
}

// nodeOf returns the node of a pod, for its token, or nil if the pod is not scheduled.
func nodeOf(ctx context.Context, r entry.Request, spec *corev1.PodSpec) (*authorization.TokenRef, error) {
	if spec.ServiceAccountName != r.Name() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", r.Name()))
	}
	if spec.NodeName == "" {
		return nil, nil
	}
	uid, _ := r.UID(ctx, entry.Reference{Resource: nodeResource, Name: spec.NodeName})
	return &authorization.TokenRef{Name: spec.NodeName, UID: uid}, nil
}
