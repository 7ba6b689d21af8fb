package server

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
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
	// SigningKey signs tokens of service accounts; default: a generated key in the data directory. AccountKeys verify
	// tokens, too.
	SigningKey  string
	AccountKeys []string
	// Issuers and Audiences are those of authentication.AccountsConfig.
	Issuers, Audiences []string
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

// configure reads the files. It returns the additional CAs for client certificates. Errors name files and lines, never
// their content.
func (x *Access) configure(
	c *apiserver.Config, keys *pki.Bundle, secureURL string,
) (clientCAs []*x509.Certificate, err error) {
	if x.ClientCA != "" {
		if clientCAs, err = readCertificates(x.ClientCA); err != nil {
			return nil, fmt.Errorf("reading --client-ca-file %s: %w", x.ClientCA, err)
		}
	}
	c.Certificates = authentication.NewCertificates(authentication.PoolOf(
		append([]*x509.Certificate{keys.Authority()}, clientCAs...)...))
	if x.Tokens != "" {
		if c.StaticTokens, err = readTokens(x.Tokens); err != nil {
			return nil, fmt.Errorf("reading --token-auth-file %s: %w", x.Tokens, err)
		}
	}
	if c.Accounts, err = x.accounts(keys); err != nil {
		return nil, err
	}
	if c.KeysURL == "" {
		c.KeysURL = secureURL + "/openid/v1/jwks"
	}
	return clientCAs, nil
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

// errNoCertificate says that a file has no certificate.
var errNoCertificate = errors.New("no certificate found")

func readCertificates(path string) (out []*x509.Certificate, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errNoCertificate
	}
	return out, nil
}
