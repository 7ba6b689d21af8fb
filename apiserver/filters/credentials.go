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

// Credentials are what users are known by.
type Credentials struct {
	// Proxies may name the user in headers; nil for none.
	Proxies *authentication.Proxies
	// Certificates, StaticTokens and Accounts verify client certificates and tokens; nil ones verify none.
	Certificates *authentication.Certificates
	StaticTokens authentication.Tokens
	Accounts     *authentication.Accounts
	// Modes are the authorization modes. With AlwaysAllow among them anonymous clients may read openPaths only.
	Modes []string
	// Anonymous lets clients without credentials be authorized as system:anonymous.
	Anonymous bool
	// Bound looks up what service account tokens are bound to.
	Bound func(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (
		uid string, deletion time.Time, ok bool)
	Now func() time.Time
}

// AllowsAll reports whether the modes deny nothing.
func AllowsAll(modes []string) bool {
	return !slices.ContainsFunc(modes, func(m string) bool { return m != "AlwaysAllow" })
}

// Secure is the Authenticator of the secure port: it knows users by the proxy that names them, by their client
// certificate or else by their token (K pkg/kubeapiserver/authenticator/config.go: New). Credentials that are wrong are
// an error even where none are needed.
func (c *Credentials) Secure(r *http.Request) (authorization.User, error) {
	u, wrong := c.certified(r)
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
		u, _, err := c.bearerOf(r.Context(), token, nil)
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

// certified returns the user of a client certificate: its owner or, if that is a proxy, the user that the proxy names.
// The validity of the certificate depends on the machine's clock, as everywhere in TLS.
func (c *Credentials) certified(r *http.Request) (u authorization.User, err error) {
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

// anonymous reports whether a client needs no credentials to be authorized. With AlwaysAllow in the chain it does, but
// for the open paths: an anonymous client may not do everything
// (K pkg/kubeapiserver/options/authentication.go: ApplyAuthorization).
func (c *Credentials) anonymous(path string) bool {
	if slices.Contains(c.Modes, "AlwaysAllow") {
		return slices.Contains(openPaths, firstSegment(path))
	}
	return c.Anonymous
}

// openPaths are for all clients in the mode AlwaysAllow. kube-apiserver turns anonymous requests off altogether there,
// and its probes bring credentials; here they need none.
var openPaths = []string{"healthz", "livez", "readyz", "version"}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// Plain is the Authenticator of the plain port, whose clients are administrators. Where there is authorization to tell
// users apart, a client that sends credentials is authenticated by them.
func (c *Credentials) Plain(r *http.Request) (authorization.User, error) {
	_, _, err := socketBearer(r)
	if (len(r.Header.Values("Authorization")) > 0 || !errors.Is(err, authentication.ErrNoCredentials)) &&
		!AllowsAll(c.Modes) {
		return c.Secure(r)
	}
	return authorization.Unsecured, nil
}

// bearer returns the request's token. An Authorization header with anything else is wrong: no user is known by it here.
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

// bearerOf returns the user of a token, and for which of the audiences it is valid; no audiences are the server's own.
func (c *Credentials) bearerOf(
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

// TokenUser is bearerOf for a token that a client asks about in a TokenReview.
func (c *Credentials) TokenUser(
	ctx context.Context, token string, audiences []string,
) (authorization.User, []string, error) {
	token, err := bearer(&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		return authorization.User{}, nil, err
	}
	return c.bearerOf(ctx, token, audiences)
}

// boundObjects looks up what tokens are about (authentication.Objects).
type boundObjects struct {
	ctx context.Context
	c   *Credentials
}

// Bound implements authentication.Objects.
func (b *boundObjects) Bound(resource, namespace, name string) (uid string, deletion time.Time, ok bool) {
	return b.c.Bound(b.ctx, schema.GroupVersionResource{Version: "v1", Resource: resource}, namespace, name)
}
