package main

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

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// access has the flags for authentication and authorization.
type access struct {
	clientCA, tokens    string
	anonymous           bool
	issuers, audiences  []string
	signingKey, keysURL string
	accountKeys         []string
	modes               []string
}

func (x *access) declare(f *pflag.FlagSet) {
	f.StringVar(&x.clientCA, "client-ca-file", "",
		"file with additional CA certificates that verify client certificates; the CA in the data directory is "+
			"always trusted")
	f.StringVar(&x.tokens, "token-auth-file", "",
		"CSV file with static bearer tokens, one per line: token,user,uid,\"group,group\"")
	f.BoolVar(&x.anonymous, "anonymous-auth", true,
		"treat requests to --secure-port without credentials as system:anonymous, unless --authorization-mode "+
			"includes AlwaysAllow")
	f.StringSliceVar(&x.issuers, "service-account-issuer", []string{"https://kubernetes.default.svc"},
		"accepted issuers of service account tokens; new tokens have the first")
	f.StringVar(&x.signingKey, "service-account-signing-key-file", "",
		"file with the private key that signs service account tokens "+
			"(default a generated key in the data directory)")
	f.StringArrayVar(&x.accountKeys, "service-account-key-file", nil,
		"file with additional keys that verify service account tokens, besides the signing key; may be repeated")
	f.StringVar(&x.keysURL, "service-account-jwks-uri", "",
		"URL of the public keys that verify service account tokens, as published in the OpenID configuration "+
			"(default on the secure port)")
	f.StringSliceVar(&x.audiences, "api-audiences", nil,
		"accepted audiences of service account tokens; a token must have one of them (default the first issuer)")
	f.StringSliceVar(&x.modes, "authorization-mode", []string{"AlwaysAllow"},
		"ordered list of authorization modes; the first that allows or denies a request decides: "+
			strings.Join(apiserver.Modes(), ", "))
}

// check validates the flags; it reads no files.
func (x *access) check() error {
	if len(x.modes) == 0 {
		return errors.New("--authorization-mode is empty")
	}
	for i, m := range x.modes {
		if !slices.Contains(apiserver.Modes(), m) {
			return fmt.Errorf(
				"--authorization-mode: unknown mode %q; the modes are %s", m, strings.Join(apiserver.Modes(), ", "))
		}
		if slices.Contains(x.modes[:i], m) {
			return fmt.Errorf("--authorization-mode names %s twice", m)
		}
	}
	if len(x.issuers) == 0 || slices.Contains(x.issuers, "") {
		return errors.New("--service-account-issuer is empty")
	}
	for i, s := range x.issuers {
		if slices.Contains(x.issuers[:i], s) { // K pkg/kubeapiserver/options/authentication.go: Validate
			return fmt.Errorf("--service-account-issuer names %q twice", s)
		}
	}
	if slices.Contains(x.audiences, "") {
		return errors.New("--api-audiences has an empty audience")
	}
	if slices.Contains(x.accountKeys, "") {
		return errors.New("--service-account-key-file is empty")
	}
	for _, s := range x.issuers { // a name with a colon is a URL (RFC 7519)
		if u, err := url.Parse(s); strings.Contains(s, ":") && (err != nil || u.Scheme == "") {
			return fmt.Errorf("--service-account-issuer %q is not a URL", s)
		}
	}
	if u, err := url.Parse(x.keysURL); x.keysURL != "" && (err != nil || u.Scheme != "https") {
		return fmt.Errorf("--service-account-jwks-uri %q is not an https URL", x.keysURL)
	}
	return nil
}

// configure reads the files. It returns the additional CAs for client certificates. Errors name files and lines, never
// their content.
func (x *access) configure(
	c *apiserver.Config, keys *pki.Bundle, secureURL string,
) (clientCAs []*x509.Certificate, err error) {
	if x.clientCA != "" {
		if clientCAs, err = readCertificates(x.clientCA); err != nil {
			return nil, fmt.Errorf("reading --client-ca-file %s: %w", x.clientCA, err)
		}
	}
	c.Certificates = authentication.NewCertificates(append([]*x509.Certificate{keys.Authority()}, clientCAs...)...)
	if x.tokens != "" {
		if c.StaticTokens, err = readTokens(x.tokens); err != nil {
			return nil, fmt.Errorf("reading --token-auth-file %s: %w", x.tokens, err)
		}
	}
	if c.Accounts, err = x.accounts(keys); err != nil {
		return nil, err
	}
	if c.KeysURL = x.keysURL; c.KeysURL == "" {
		c.KeysURL = secureURL + "/openid/v1/jwks"
	}
	c.Modes, c.Anonymous = x.modes, x.anonymous
	return clientCAs, nil
}

// accounts reads the keys of the flags, or uses the generated one. Tokens are verified with a given signing key whether
// or not the flags also name it for verification.
func (x *access) accounts(keys *pki.Bundle) (*authentication.Accounts, error) {
	c := authentication.AccountsConfig{Issuers: x.issuers, Audiences: x.audiences, Signer: keys.ServiceAccountKey}
	if x.signingKey != "" {
		data, err := os.ReadFile(x.signingKey)
		if err == nil {
			c.Signer, err = authentication.ParseSigner(data)
		}
		if err != nil {
			return nil, fmt.Errorf("reading --service-account-signing-key-file %s: %w", x.signingKey, err)
		}
	}
	c.Keys = []crypto.PublicKey{c.Signer.Public()}
	for _, path := range x.accountKeys {
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
