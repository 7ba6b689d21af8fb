package authentication

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// ErrProxyNotAllowed reports that a proxy's certificate is valid, but that ProxiesConfig.Names lacks its common name.
var ErrProxyNotAllowed = errors.New("authentication: the proxy's certificate has a common name that is not allowed")

// ProxiesConfig defines which proxies in front of the server may name the user of a request, and in which headers.
type ProxiesConfig struct {
	// Authorities verify the client certificates of proxies.
	Authorities Pool
	// Names are the allowed common names of these certificates; empty allows all.
	Names []string
	// UsernameHeaders and UIDHeaders are names of headers; the first header with a value is used. Of GroupHeaders all
	// values are used.
	UsernameHeaders, UIDHeaders, GroupHeaders []string
	// ExtraPrefixes are prefixes of the names of headers with extra fields: the rest of the name is the key.
	ExtraPrefixes []string
}

// Proxies authenticates users that a proxy names in headers (AS pkg/authentication/request/headerrequest). Make one
// with NewProxies. Its methods may be called from any goroutine.
type Proxies struct {
	config ProxiesConfig
	chains chains[struct{}]
}

// NewProxies returns Proxies with the configuration.
func NewProxies(c ProxiesConfig) *Proxies {
	p := &Proxies{config: c}
	p.chains.roots = c.Authorities
	p.chains.read = func(leaf *x509.Certificate) (none struct{}, err error) {
		if len(c.Names) > 0 && !slices.Contains(c.Names, leaf.Subject.CommonName) {
			return none, fmt.Errorf("%w: %q", ErrProxyNotAllowed, leaf.Subject.CommonName)
		}
		return none, nil
	}
	return p
}

// User returns the user whom the headers name. The error is ErrNoCredentials if they name none, or if the client has
// sent no certificate: then the client is authenticated by its own credentials.
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

// Clear removes the headers, so that later handlers do not take them for a verified identity.
func (p *Proxies) Clear(h http.Header) {
	for _, names := range [][]string{p.config.UsernameHeaders, p.config.UIDHeaders, p.config.GroupHeaders} {
		for _, name := range names {
			h.Del(name)
		}
	}
	for name := range h {
		if slices.ContainsFunc(p.config.ExtraPrefixes, func(prefix string) bool { return begins(name, prefix) }) {
			delete(h, name)
		}
	}
}

// extra returns the extra fields. Their keys are in lower case, because names of headers have no case. Keys may be
// escaped as in URLs; one with a malformed escape is used unchanged. Headers are read in the order of their names.
func (p *Proxies) extra(h http.Header) map[string][]string {
	extra := map[string][]string{}
	var names []string
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, prefix := range p.config.ExtraPrefixes {
		for _, name := range names {
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
