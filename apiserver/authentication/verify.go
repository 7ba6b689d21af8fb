package authentication

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// The errors of tokens, with the messages that TokenReview returns in upstream. They contain nothing of the token
// except names.
var (
	// ErrToken is the error for an unknown token.
	ErrToken = errors.New("invalid bearer token")
	// ErrExpired is the error for a token that has expired.
	ErrExpired = errors.New("service account token has expired")
	// ErrNotYet is the error for a token that is not valid yet.
	ErrNotYet = errors.New("service account token is not valid yet")
	// ErrFuture is the error for a token with an issue time in the future.
	ErrFuture = errors.New("service account token is issued in the future")
	// ErrSignature is the error for a token that none of the server's keys has signed.
	ErrSignature = errors.New("invalid signature, no keys found")
	// ErrInvalidated is the error for a token whose bound object was deleted.
	ErrInvalidated = errors.New("service account token has been invalidated")
)

const (
	// skew is the maximum time by which the clock of the server that signed a token may be ahead.
	skew = 5 * time.Second
	// grace is the time for which a token stays valid after the deletion of its bound object, because controllers may
	// be cleaning up (K pkg/serviceaccount/claims.go: Validate).
	grace = time.Minute
)

// Objects looks up the objects to which tokens are bound.
type Objects interface {
	// Bound returns an object of the core group. deletion is its deletionTimestamp, or zero.
	Bound(resource, namespace, name string) (uid string, deletion time.Time, ok bool)
}

// Verify returns the user of a token, and those audiences for which the token is valid. The default is the server's. It
// checks signature, issuer, audience, time and the bound objects at each call. Only the result of the signature check
// is cached.
func (a *Accounts) Verify(
	token string, audiences []string, now time.Time, objects Objects,
) (u authorization.User, good []string, err error) {
	c, err := a.claims(token)
	if err != nil {
		return authorization.User{}, nil, err
	}
	if len(audiences) == 0 {
		audiences = a.config.Audiences
	}
	for _, name := range c.Audience {
		if slices.Contains(audiences, name) {
			good = append(good, name)
		}
	}
	if len(good) == 0 {
		return authorization.User{}, nil, fmt.Errorf(
			"token audiences %q is invalid for the target audiences %q", []string(c.Audience), audiences,
		)
	}
	switch {
	case c.ExpiresAt == nil || !now.Before(c.ExpiresAt.Time):
		return authorization.User{}, nil, ErrExpired
	case c.NotBefore != nil && now.Add(skew).Before(c.NotBefore.Time):
		return authorization.User{}, nil, ErrNotYet
	case c.IssuedAt != nil && now.Add(skew).Before(c.IssuedAt.Time):
		return authorization.User{}, nil, ErrFuture
	}
	if err := c.Kubernetes.check(now, objects); err != nil {
		return authorization.User{}, nil, err
	}
	return c.user(), good, nil
}

// claims returns the claims of a token of this server. ErrToken means that it is another kind of token.
func (a *Accounts) claims(token string) (*claims, error) {
	if !slices.Contains(a.config.Issuers, issuer(token)) {
		return nil, ErrToken
	}
	digest := sha256.Sum256([]byte(token))
	a.mu.Lock()
	c := a.verified[digest]
	a.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c = &claims{}
	if _, err := a.parser.ParseWithClaims(token, c, a.keysOf); err != nil {
		return nil, ErrSignature
	}
	if !slices.Contains(a.config.Issuers, c.Issuer) ||
		c.Subject != serviceaccount.MakeUsername(c.Kubernetes.Namespace, c.Kubernetes.Account.Name) {
		return nil, ErrToken
	}
	if len(token) > longestVerified {
		return c, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.verified) >= maxVerified {
		clear(a.verified)
	}
	a.verified[digest] = c
	return c, nil
}

// keysOf returns the keys that may have signed a token: the named one or, if the token names none, all. They must be
// for the token's algorithm. A token with a critical header is rejected.
func (a *Accounts) keysOf(t *jwt.Token) (any, error) {
	if _, ok := t.Header["crit"]; ok {
		return nil, ErrSignature
	}
	id, _ := t.Header["kid"].(string)
	var set jwt.VerificationKeySet
	for _, k := range a.keys {
		if (id == "" || id == k.id) && k.method.Alg() == t.Method.Alg() {
			set.Keys = append(set.Keys, k.public)
		}
	}
	if len(set.Keys) == 0 {
		return nil, ErrSignature
	}
	return set, nil
}

// issuer returns the issuer that a token names. Its signature is not verified yet.
func issuer(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var c struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(payload, &c) != nil {
		return ""
	}
	return c.Issuer
}

// check checks the objects to which the token is bound (K pkg/serviceaccount/claims.go: Validate).
func (k *kubernetesClaim) check(now time.Time, objects Objects) error {
	ended := func(deletion time.Time) bool { return !deletion.IsZero() && deletion.Before(now.Add(-grace)) }
	uid, deletion, ok := objects.Bound("serviceaccounts", k.Namespace, k.Account.Name)
	switch {
	case !ok:
		return fmt.Errorf("serviceaccounts %q not found", k.Account.Name)
	case uid != k.Account.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", uid, k.Account.UID)
	case ended(deletion):
		return fmt.Errorf("service account %s/%s has been deleted", k.Namespace, k.Account.Name)
	}
	bound := func(kind, namespace string, r *authorization.TokenRef) error {
		uid, deletion, ok := objects.Bound(kind+"s", namespace, r.Name)
		if ok && uid != r.UID {
			return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, uid, kind, r.UID)
		}
		if !ok || ended(deletion) {
			return ErrInvalidated
		}
		return nil
	}
	var err error
	if k.Secret != nil {
		err = bound("secret", k.Namespace, k.Secret)
	}
	if err == nil && k.Pod != nil {
		err = bound("pod", k.Namespace, k.Pod)
	}
	if err == nil && k.Pod == nil && k.Node != nil { // the node of a pod is only information
		err = bound("node", "", k.Node)
	}
	return err
}

func (c *claims) user() authorization.User {
	k := &c.Kubernetes
	info := serviceaccount.ServiceAccountInfo{Namespace: k.Namespace, Name: k.Account.Name, UID: k.Account.UID}
	if c.ID != "" {
		info.CredentialID = "JTI=" + c.ID
	}
	if k.Pod != nil {
		info.PodName, info.PodUID = k.Pod.Name, k.Pod.UID
	}
	if k.Node != nil {
		info.NodeName, info.NodeUID = k.Node.Name, k.Node.UID
	}
	return authenticated(*info.UserInfo().(*authorization.User))
}
