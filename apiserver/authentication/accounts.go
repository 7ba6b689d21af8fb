package authentication

import (
	"crypto"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// kubernetesClaim is the private claim of Kubernetes' tokens (K pkg/serviceaccount/claims.go).
type kubernetesClaim struct {
	Namespace string                  `json:"namespace,omitempty"`
	Node      *authorization.TokenRef `json:"node,omitempty"`
	Pod       *authorization.TokenRef `json:"pod,omitempty"`
	Secret    *authorization.TokenRef `json:"secret,omitempty"`
	Account   authorization.TokenRef  `json:"serviceaccount"`
}

type claims struct {
	jwt.RegisteredClaims
	Kubernetes kubernetesClaim `json:"kubernetes.io"`
}

// AccountsConfig is the configuration of NewAccounts.
type AccountsConfig struct {
	// Issuers are the accepted issuers of tokens. New tokens have the first one.
	Issuers []string
	// Audiences are the server's audiences. A token must have one of them. A new token gets all of them if the request
	// has none. Default: the first issuer.
	Audiences []string
	// Signer signs new tokens.
	Signer crypto.Signer
	// Keys verify tokens. Default: the signer's key.
	Keys []crypto.PublicKey
}

// Accounts signs and verifies service account tokens. Its methods may be called from any goroutine.
type Accounts struct {
	config AccountsConfig
	signer key
	keys   []key
	parser *jwt.Parser

	// mu guards verified: the claims of tokens with a valid signature, by the digest of the token. The check of a
	// signature takes longer than serving a request.
	mu       sync.Mutex
	verified map[[sha256.Size]byte]*claims
}

// Limits of the cache. At maxVerified tokens it is cleared. Tokens longer than longestVerified, such as those with
// thousands of audiences, are not cached.
const (
	maxVerified     = 4096
	longestVerified = 4 << 10
)

// NewAccounts returns Accounts, or an error if a key can't be used.
func NewAccounts(c AccountsConfig) (*Accounts, error) {
	if len(c.Issuers) == 0 || c.Signer == nil {
		return nil, errors.New("authentication: tokens need an issuer and a key")
	}
	if len(c.Audiences) == 0 {
		c.Audiences = c.Issuers[:1]
	}
	if len(c.Keys) == 0 {
		c.Keys = []crypto.PublicKey{c.Signer.Public()}
	}
	a := &Accounts{config: c, verified: map[[sha256.Size]byte]*claims{}}
	var err error
	if a.signer, err = newKey(c.Signer.Public()); err != nil {
		return nil, err
	}
	var methods []string
	for _, public := range c.Keys {
		k, err := newKey(public)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(a.keys, func(have key) bool { return have.id == k.id }) {
			a.keys = append(a.keys, k)
			methods = append(methods, k.method.Alg())
		}
	}
	a.parser = jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())
	return a, nil
}

// Audiences returns the audiences of a token if its request has none.
func (a *Accounts) Audiences() []string { return a.config.Audiences }

// Issue returns a signed token.
func (a *Accounts) Issue(c authorization.TokenClaim) (string, error) {
	t := jwt.NewWithClaims(a.signer.method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: a.config.Issuers[0], Subject: serviceaccount.MakeUsername(c.Namespace, c.Name),
			Audience: c.Audiences,
			IssuedAt: jwt.NewNumericDate(c.Issued), NotBefore: jwt.NewNumericDate(c.Issued),
			ExpiresAt: jwt.NewNumericDate(c.Expires),
			ID:        string(uuid.NewUUID()),
		},
		Kubernetes: kubernetesClaim{
			Namespace: c.Namespace, Account: authorization.TokenRef{Name: c.Name, UID: c.UID},
			Pod: c.Pod, Secret: c.Secret, Node: c.Node,
		},
	})
	t.Header["kid"] = a.signer.id
	delete(t.Header, "typ") // as in kube-apiserver's tokens
	return t.SignedString(a.config.Signer)
}

// Documents returns the documents for other verifiers of the issuer's tokens: the OpenID configuration, with the URL of
// the keys, and the keys. It returns an error if the issuer is not an https URL without query and fragment (K
// pkg/serviceaccount/openidmetadata.go: NewOpenIDMetadataProvider).
func (a *Accounts) Documents(keysURL string) (configuration, keys []byte, err error) {
	u, err := url.Parse(a.config.Issuers[0])
	if err != nil || u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, nil, fmt.Errorf("the issuer %q is not an https URL without query and fragment", a.config.Issuers[0])
	}
	var set struct {
		Keys []webKey `json:"keys"`
	}
	var algorithms []string
	for i := range a.keys {
		w, err := a.keys[i].web()
		if err != nil {
			return nil, nil, err
		}
		set.Keys = append(set.Keys, w)
		algorithms = append(algorithms, w.Algorithm)
	}
	slices.Sort(algorithms)
	configuration, err = json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		KeysURL    string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{a.config.Issuers[0], keysURL, []string{"id_token"}, []string{"public"}, slices.Compact(algorithms)})
	if err != nil {
		return nil, nil, err
	}
	keys, err = json.Marshal(set)
	return configuration, keys, err
}
