package server

import (
	"crypto"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// Access has the files for authentication. apiserver.Config has the other settings.
type Access struct {
	// ClientCA has further certificate authorities for clients; Tokens has static tokens. Empty for none.
	ClientCA, Tokens string
	// Proxies may name the user of a request.
	Proxies Proxies
	// SigningKey signs tokens of service accounts; default: a generated key in the data directory. AccountKeys verify
	// tokens, too.
	SigningKey  string
	AccountKeys []string
	// Issuers and Audiences are those of authentication.AccountsConfig.
	Issuers, Audiences []string
}

// Proxies are proxies in front of the server that authenticate users.
type Proxies struct {
	// CA has the certificate authorities of their client certificates; without it there are no proxies. Names are the
	// allowed common names; none allows all.
	CA    string
	Names []string
	// UsernameHeaders, UIDHeaders, GroupHeaders and ExtraPrefixes are those of authentication.ProxiesConfig.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraPrefixes []string
}

// check validates the headers (AS pkg/server/options/authentication.go: RequestHeaderAuthenticationOptions.Validate).
func (p *Proxies) check() error {
	for _, f := range []struct {
		flag   string
		values []string
	}{
		{"username-headers", p.UsernameHeaders}, {"group-headers", p.GroupHeaders},
		{"extra-headers-prefix", p.ExtraPrefixes}, {"allowed-names", p.Names}, {"uid-headers", p.UIDHeaders},
	} {
		if slices.ContainsFunc(f.values, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return fmt.Errorf("--requestheader-%s has an empty value", f.flag)
		}
	}
	if len(p.UIDHeaders) > 0 && !slices.ContainsFunc(p.UIDHeaders, func(s string) bool {
		return strings.EqualFold(s, "X-Remote-Uid")
	}) {
		return errors.New("--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - " +
			"API aggregation will not work")
	}
	return nil
}

// checkAccess validates the settings; it reads no files.
func (c *Config) checkAccess() error {
	x, modes, keysURL := &c.Access, c.API.Modes, c.API.KeysURL
	if len(modes) == 0 || slices.Contains(modes, "") {
		return errors.New("--authorization-mode is empty")
	}
	for i, m := range modes {
		if !slices.Contains(apiserver.Modes(), m) {
			return fmt.Errorf(
				"--authorization-mode: unknown mode %q; the modes are %s", m, strings.Join(apiserver.Modes(), ", "))
		}
		if slices.Contains(modes[:i], m) {
			return fmt.Errorf("--authorization-mode names %s twice", m)
		}
	}
	if len(x.Issuers) == 0 || slices.Contains(x.Issuers, "") {
		return errors.New("--service-account-issuer is empty")
	}
	for i, s := range x.Issuers {
		if slices.Contains(x.Issuers[:i], s) { // K pkg/kubeapiserver/options/authentication.go: Validate
			return fmt.Errorf("--service-account-issuer names %q twice", s)
		}
	}
	if err := x.Proxies.check(); err != nil {
		return err
	}
	if slices.Contains(x.Audiences, "") {
		return errors.New("--api-audiences has an empty audience")
	}
	if slices.Contains(x.AccountKeys, "") {
		return errors.New("--service-account-key-file is empty")
	}
	for _, s := range x.Issuers { // a name with a colon is a URL (RFC 7519)
		if u, err := url.Parse(s); strings.Contains(s, ":") && (err != nil || u.Scheme == "") {
			return fmt.Errorf("--service-account-issuer %q is not a URL", s)
		}
	}
	if u, err := url.Parse(keysURL); keysURL != "" && (err != nil || u.Scheme != "https") {
		return fmt.Errorf("--service-account-jwks-uri %q is not an https URL", keysURL)
	}
	return nil
}

// trust are the certificate authorities of clients: own are all those of users' certificates, given those of them that
// a file has, proxies those of proxies. The latter two are nil without a file.
type trust struct{ own, given, proxies *pki.Authorities }

// trust reads the files.
func (x *Access) trust(keys *pki.Bundle) (t trust, err error) {
	if t.own, err = keys.Authorities(x.ClientCA, keys.Authority()); err != nil {
		return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCA, err)
	}
	if x.ClientCA != "" {
		if t.given, err = keys.Authorities(x.ClientCA); err != nil {
			return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCA, err)
		}
	}
	if x.Proxies.CA == "" {
		return t, nil
	}
	if t.proxies, err = keys.Authorities(x.Proxies.CA); err != nil {
		return t, fmt.Errorf("reading --requestheader-client-ca-file %s: %w", x.Proxies.CA, err)
	}
	return t, nil
}

// all are the authorities that handshakes name.
func (t *trust) all() []*pki.Authorities {
	if t.proxies == nil {
		return []*pki.Authorities{t.own}
	}
	return []*pki.Authorities{t.own, t.proxies}
}

// configure reads the files. It returns the authorities of clients. Errors name files and lines, never their content.
func (x *Access) configure(c *apiserver.Config, keys *pki.Bundle, secureURL string) (t trust, err error) {
	if t, err = x.trust(keys); err != nil {
		return t, err
	}
	c.Certificates = authentication.NewCertificates(t.own.Pool)
	if t.proxies != nil {
		p := &x.Proxies
		c.Proxies = authentication.NewProxies(authentication.ProxiesConfig{
			Authorities: t.proxies.Pool, Names: p.Names, UsernameHeaders: p.UsernameHeaders, UIDHeaders: p.UIDHeaders,
			GroupHeaders: p.GroupHeaders, ExtraPrefixes: p.ExtraPrefixes,
		})
	}
	if x.Tokens != "" {
		if c.StaticTokens, err = readTokens(x.Tokens); err != nil {
			return t, fmt.Errorf("reading --token-auth-file %s: %w", x.Tokens, err)
		}
	}
	if c.Accounts, err = x.accounts(keys); err != nil {
		return t, err
	}
	if c.KeysURL == "" {
		c.KeysURL = secureURL + "/openid/v1/jwks"
	}
	return t, nil
}

// accounts reads the keys of the files, or uses the generated one. Tokens are verified with a given signing key whether
// or not AccountKeys has it for verification.
func (x *Access) accounts(keys *pki.Bundle) (*authentication.Accounts, error) {
	c := authentication.AccountsConfig{Issuers: x.Issuers, Audiences: x.Audiences, Signer: keys.ServiceAccountKey}
	if x.SigningKey != "" {
		data, err := os.ReadFile(x.SigningKey)
		if err == nil {
			c.Signer, err = authentication.ParseSigner(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading --service-account-signing-key-file %s: %w", x.SigningKey, err)
		}
	}
	c.Keys = []crypto.PublicKey{c.Signer.Public()}
	for _, path := range x.AccountKeys {
		data, err := os.ReadFile(path)
		var more []crypto.PublicKey
		if err == nil {
			more, err = authentication.ParsePublicKeys(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading --service-account-key-file %s: %w", path, err)
		}
		c.Keys = append(c.Keys, more...)
	}
	return authentication.NewAccounts(c)
}

func readTokens(path string) (authentication.Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return authentication.ParseTokens(f)
}
