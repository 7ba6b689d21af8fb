package apiserver

import (
	"crypto"
	"crypto/tls"
	"fmt"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/apiserver/proxy"
)

// Access has the files for authentication, from which Authenticate sets AuthenticationOptions.
type Access struct {
	// ClientCA has further certificate authorities for clients; Tokens has static tokens. Empty for none.
	ClientCA, Tokens string
	// Proxies may name the user of a request.
	Proxies Proxies
	// SigningKey signs tokens of service accounts; default: a generated key in the data directory. AccountKeys verify
	// tokens, too.
	SigningKey  string
	AccountKeys []string
	// Kubelets has the files for connections to kubelets.
	Kubelets KubeletFiles
	// FrontProxyCert and FrontProxyKey are files with the certificate for extension API servers; default: one of the
	// server's own authority.
	FrontProxyCert, FrontProxyKey string
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

// KubeletFiles are PEM files for connections to kubelets. CA has the authorities of their certificates; without it they
// are not verified. Cert and Key are the server's; default: a certificate of its own authority.
type KubeletFiles struct{ CA, Cert, Key string }

// FrontProxy reads the files for connections to extension API servers.
func (x *Access) FrontProxy(keys *pki.Bundle) (func() (*tls.Certificate, error), error) {
	get, err := keys.FrontProxyClient(x.FrontProxyCert, x.FrontProxyKey)
	if err != nil {
		return nil, fmt.Errorf("reading --proxy-client-cert-file %s: %w", x.FrontProxyCert, err)
	}
	return get, nil
}

// Proxy reads the files for connections to kubelets.
func (x *Access) Proxy(keys *pki.Bundle) (o proxy.Options, err error) {
	if o.Certificate, err = keys.KubeletClient(x.Kubelets.Cert, x.Kubelets.Key); err != nil {
		return o, fmt.Errorf("reading --kubelet-client-certificate %s: %w", x.Kubelets.Cert, err)
	}
	if x.Kubelets.CA != "" {
		a, err := keys.Authorities(x.Kubelets.CA)
		if err != nil {
			return o, fmt.Errorf("reading --kubelet-certificate-authority %s: %w", x.Kubelets.CA, err)
		}
		o.Authorities = a.Pool()
	}
	return o, nil
}

// Trust are the certificate authorities of clients: Own are all those of users' certificates, Given those of them that
// a file has, Proxies those of proxies. The latter two are nil without a file.
// Front is the authority, in PEM, of the certificate that this server makes for extension API servers; empty if files
// have the certificate, or --requestheader-client-ca-file has what they trust.
type Trust struct {
	Own, Given, Proxies *pki.Authorities
	Front               []byte
}

// trust reads the files.
func (x *Access) trust(keys *pki.Bundle) (t Trust, err error) {
	if t.Own, err = keys.Authorities(x.ClientCA, keys.Authority()); err != nil {
		return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCA, err)
	}
	if x.ClientCA != "" {
		if t.Given, err = keys.Authorities(x.ClientCA); err != nil {
			return t, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCA, err)
		}
	}
	if x.Proxies.CA == "" {
		if x.FrontProxyCert == "" {
			t.Front = keys.FrontProxyPEM()
		}
		return t, nil
	}
	if t.Proxies, err = keys.Authorities(x.Proxies.CA); err != nil {
		return t, fmt.Errorf("reading --requestheader-client-ca-file %s: %w", x.Proxies.CA, err)
	}
	return t, nil
}

// All are the authorities that handshakes name.
func (t *Trust) All() []*pki.Authorities {
	if t.Proxies == nil {
		return []*pki.Authorities{t.Own}
	}
	return []*pki.Authorities{t.Own, t.Proxies}
}

// Authenticate reads the files, and returns the authorities of clients. Errors name files and lines, never their
// content.
func (x *Access) Authenticate(c *AuthenticationOptions, keys *pki.Bundle, secureURL string) (t Trust, err error) {
	if t, err = x.trust(keys); err != nil {
		return t, err
	}
	c.Certificates = authentication.NewCertificates(t.Own.Pool)
	if t.Proxies != nil {
		p := &x.Proxies
		c.Proxies = authentication.NewProxies(authentication.ProxiesConfig{
			Authorities: t.Proxies.Pool, Names: p.Names, UsernameHeaders: p.UsernameHeaders, UIDHeaders: p.UIDHeaders,
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
