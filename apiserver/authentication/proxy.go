package authentication

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// ErrProxyNotAllowed is the error for a valid certificate of a proxy whose common name is not in
// RequestHeader.AllowedNames.
var ErrProxyNotAllowed = errors.New("authentication: the proxy's certificate has a common name that is not allowed")

// RequestHeader configures the proxies that may name the user of a request in headers.
type RequestHeader struct {
	// ClientCAFile has the CA certificates that verify the proxies' client certificates. Without it there are no
	// proxies. It is read again when it changes. AllowedNames are the allowed common names. Empty allows all.
	ClientCAFile string   `flag:"requestheader-client-ca-file"`
	AllowedNames []string `flag:"requestheader-allowed-names"`
	// UsernameHeaders, UIDHeaders and GroupHeaders are the names of the headers, usually X-Remote-User, X-Remote-Uid and
	// X-Remote-Group. ExtraHeadersPrefix are prefixes of headers with extra fields, usually X-Remote-Extra-.
	UsernameHeaders    []string `flag:"requestheader-username-headers"`
	UIDHeaders         []string `flag:"requestheader-uid-headers"`
	GroupHeaders       []string `flag:"requestheader-group-headers"`
	ExtraHeadersPrefix []string `flag:"requestheader-extra-headers-prefix"`
}

// Proxies authenticates users that a proxy names in headers (AS pkg/authentication/request/headerrequest). Its methods
// may be called from any goroutine.
type Proxies struct {
	config RequestHeader
	chains chains[struct{}]
}

// NewProxies returns Proxies. The authorities verify the proxies' client certificates.
func NewProxies(c RequestHeader, authorities Pool) *Proxies {
	p := &Proxies{config: c}
	p.chains.roots = authorities
	p.chains.read = func(leaf *x509.Certificate) (none struct{}, err error) {
		if len(c.AllowedNames) > 0 && !slices.Contains(c.AllowedNames, leaf.Subject.CommonName) {
			return none, fmt.Errorf("%w: %q", ErrProxyNotAllowed, leaf.Subject.CommonName)
		}
		return none, nil
	}
	return p
}

// User returns the user that the headers name. The error is ErrNoCredentials if they name none, or if the client has
// sent no certificate. Then the client is authenticated by its own credentials.
func (p *Proxies) User(chain []*x509.Certificate, h http.Header, now time.Time) (authorization.User, error) {
	name := first(h, p.config.UsernameHeaders)
	if name == "" {
		return authorization.User{}, ErrNoCredentials
	}
	if _, err := p.chains.verify(chain, now); err != nil {
		return authorization.User{}, err
	}
	u := authorization.User{Name: name, UID: first(h, p.config.UIDHeaders), Groups: []string{}, Extra: p.extra(h)}
	for _, name := range p.config.GroupHeaders {
		for _, group := range h.Values(name) {
			if group != "" {
				u.Groups = append(u.Groups, group)
			}
		}
	}
	return authenticated(u), nil
}

// Clear removes the headers, so that later handlers do not treat them as a verified identity.
func (p *Proxies) Clear(h http.Header) {
	for _, names := range [][]string{p.config.UsernameHeaders, p.config.UIDHeaders, p.config.GroupHeaders} {
		for _, name := range names {
			h.Del(name)
		}
	}
	for name := range h {
		if slices.ContainsFunc(p.config.ExtraHeadersPrefix, func(prefix string) bool { return begins(name, prefix) }) {
			delete(h, name)
		}
	}
}

// extra returns the extra fields. Their keys are in lower case, because header names are case-insensitive. Keys may be
// escaped as in URLs. A key with a malformed escape is used unchanged. Headers are read in the order of their names.
func (p *Proxies) extra(h http.Header) map[string][]string {
	extra := map[string][]string{}
	for _, prefix := range p.config.ExtraHeadersPrefix {
		for _, name := range slices.Sorted(maps.Keys(h)) {
			if !begins(name, prefix) {
				continue
			}
			key := strings.ToLower(name[len(prefix):])
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			extra[key] = append(extra[key], h[name]...)
		}
	}
	return extra
}

// first returns the first value of the named headers that is not empty.
func first(h http.Header, names []string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// begins reports whether name begins with prefix, in upper or lower case.
func begins(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
