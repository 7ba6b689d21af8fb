package filters

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Credentials authenticate users.
type Credentials struct {
	// Proxies authenticates proxies, which name the user in headers. It may be nil.
	Proxies *authentication.Proxies
	// Certificates, StaticTokens and Accounts verify client certificates and tokens. Each may be nil.
	Certificates *authentication.Certificates
	StaticTokens authentication.Tokens
	Accounts     *authentication.Accounts
	// Modes are the authorization modes. If AlwaysAllow is one of them, anonymous clients may only read openPaths.
	Modes []string
	// Anonymous authenticates clients without credentials as system:anonymous.
	Anonymous bool
	// Bound looks up the objects to which service account tokens are bound.
	Bound func(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (
		uid string, deletion time.Time, ok bool)
	Now func() time.Time
}

// AllowsAll reports whether the modes deny nothing.
func AllowsAll(modes []string) bool {
	return !slices.ContainsFunc(modes, func(m string) bool { return m != "AlwaysAllow" })
}

// Secure is the Authenticator of the secure port. It tries, in this order, the headers of a proxy, the client
// certificate, and the token (K pkg/kubeapiserver/authenticator/config.go: New). Invalid credentials are an error, even
// on a path that needs none.
func (c *Credentials) Secure(r *http.Request) (authorization.User, error) {
	u, wrong := c.certificateUser(r)
	if wrong == nil {
		return u, nil
	}
	if errors.Is(wrong, authentication.ErrNoCredentials) {
		wrong = nil
	}
	token, err := bearer(r)
	var others []string
	if errors.Is(err, authentication.ErrNoCredentials) {
		token, others, err = socketBearer(r)
	}
	switch {
	case err == nil:
		u, _, err := c.verifyToken(r.Context(), token, nil)
		if err == nil && others != nil {
			r.Header.Set(subprotocols, strings.Join(others, ","))
		}
		return u, err
	case !errors.Is(err, authentication.ErrNoCredentials):
		return authorization.User{}, err
	case wrong != nil:
		return authorization.User{}, wrong
	case c.anonymous(r.URL.Path):
		return authorization.Anonymous, nil
	}
	return authorization.User{}, authentication.ErrNoCredentials
}

// certificateUser returns the user of a client certificate: its owner or, if that is a proxy, the user that the proxy
// names. As always in TLS, the clock of the machine decides whether the certificate has expired.
func (c *Credentials) certificateUser(r *http.Request) (u authorization.User, err error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return u, authentication.ErrNoCredentials
	}
	notByProxy := authentication.ErrNoCredentials
	if c.Proxies != nil {
		if u, notByProxy = c.Proxies.User(r.TLS.PeerCertificates, r.Header, time.Now()); notByProxy == nil {
			return u, nil
		}
	}
	if c.Certificates == nil {
		return u, notByProxy
	}
	if u, err = c.Certificates.User(r.TLS.PeerCertificates, time.Now()); err != nil &&
		!errors.Is(notByProxy, authentication.ErrNoCredentials) {
		err = fmt.Errorf("%w; as a proxy: %w", err, notByProxy)
	}
	return u, err
}

// anonymous reports whether a request for the path needs no credentials. If AlwaysAllow is one of the modes, only the
// open paths need none, because an anonymous client must not be allowed everything (K
// pkg/kubeapiserver/options/authentication.go: ApplyAuthorization).
func (c *Credentials) anonymous(path string) bool {
	if slices.Contains(c.Modes, "AlwaysAllow") {
		return slices.Contains(openPaths, firstSegment(path))
	}
	return c.Anonymous
}

// openPaths are open to anonymous clients in the mode AlwaysAllow. In this mode kube-apiserver rejects all anonymous
// requests, and its probes send credentials. Here, probes need none.
var openPaths = []string{"healthz", "livez", "readyz", "version"}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// Plain is the Authenticator of the plain port, whose clients are administrators. If the authorization modes
// distinguish users, a client that sends credentials is authenticated by them.
func (c *Credentials) Plain(r *http.Request) (authorization.User, error) {
	_, _, err := socketBearer(r)
	if (len(r.Header.Values("Authorization")) > 0 || !errors.Is(err, authentication.ErrNoCredentials)) &&
		!AllowsAll(c.Modes) {
		return c.Secure(r)
	}
	return authorization.Unsecured, nil
}

// bearer returns the request's bearer token. An Authorization header with anything else is an error.
func bearer(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", authentication.ErrNoCredentials
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if token = strings.TrimSpace(token); len(values) > 1 || !strings.EqualFold(scheme, "bearer") || token == "" ||
		strings.Contains(token, " ") {
		return "", authentication.ErrToken
	}
	return token, nil
}

// verifyToken returns the user of a token, and those of the audiences (default: the server's) for which it is valid.
func (c *Credentials) verifyToken(
	ctx context.Context, token string, audiences []string,
) (authorization.User, []string, error) {
	accounts := c.Accounts
	if u, ok := c.StaticTokens.User(token); ok {
		if accounts == nil {
			return u, nil, nil
		}
		good := accounts.Audiences()
		if len(audiences) > 0 {
			good = slices.DeleteFunc(slices.Clone(good), func(name string) bool { return !slices.Contains(audiences, name) })
		}
		if len(good) == 0 {
			return authorization.User{}, nil, authentication.ErrToken
		}
		return u, good, nil
	}
	if accounts == nil {
		return authorization.User{}, nil, authentication.ErrToken
	}
	return accounts.Verify(token, audiences, c.Now(), &boundObjects{ctx, c})
}

// TokenUser is verifyToken for the token of a TokenReview.
func (c *Credentials) TokenUser(
	ctx context.Context, token string, audiences []string,
) (authorization.User, []string, error) {
	token, err := bearer(&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		return authorization.User{}, nil, err
	}
	return c.verifyToken(ctx, token, audiences)
}

// boundObjects looks up the objects to which tokens are bound (authentication.Objects).
type boundObjects struct {
	ctx context.Context
	c   *Credentials
}

// Bound implements authentication.Objects.
func (b *boundObjects) Bound(resource, namespace, name string) (uid string, deletion time.Time, ok bool) {
	return b.c.Bound(b.ctx, schema.GroupVersionResource{Version: "v1", Resource: resource}, namespace, name)
}
