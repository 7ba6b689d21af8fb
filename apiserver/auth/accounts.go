package auth

import (
	"crypto"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Claim is what a service account's token says.
type Claim struct {
	Namespace, Name, UID string
	Audiences            []string
	Issued, Expires      time.Time
	// Pod, Secret and Node are what the token is bound to: it ends with the pod or secret, or with the
	// node if there is no pod. Of a pod's node it only tells.
	Pod, Secret, Node *Ref
}

// Ref names an object that a token is about.
type Ref struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
}

// kubernetesClaim is the private claim that Kubernetes' tokens carry (K pkg/serviceaccount/claims.go).
type kubernetesClaim struct {
	Namespace string `json:"namespace,omitempty"`
	Node      *Ref   `json:"node,omitempty"`
	Pod       *Ref   `json:"pod,omitempty"`
	Secret    *Ref   `json:"secret,omitempty"`
	Account   Ref    `json:"serviceaccount"`
}

type claims struct {
	jwt.RegisteredClaims
	Kubernetes kubernetesClaim `json:"kubernetes.io"`
}

// AccountsConfig is what Accounts are made of.
type AccountsConfig struct {
	// Issuers are who tokens may be by; the first is who new ones are by.
	Issuers []string
	// Audiences are those of which a token must name one to be let in, and which new ones have that
	// name none; default: the first issuer.
	Audiences []string
	// Signer signs new tokens.
	Signer crypto.Signer
	// Keys verify tokens; default: the signer's.
	Keys []crypto.PublicKey
}

// Accounts signs the tokens of service accounts and verifies them. Make one with NewAccounts; its
// methods may be called from any goroutine.
type Accounts struct {
	config AccountsConfig
	signer key
	keys   []key
	parser *jwt.Parser

	// mu guards verified: the claims of tokens whose signature was found good, by the tokens' digests.
	// A signature takes longer to verify than a request to serve.
	mu       sync.Mutex
	verified map[[sha256.Size]byte]*claims
}

// Bounds of what is remembered: when there are mostVerified tokens all are forgotten, and tokens that are
// longer than longestVerified, as those for thousands of audiences, are verified each time.
const (
	mostVerified    = 4096
	longestVerified = 4 << 10
)

// NewAccounts returns an error if a key is of no use.
func NewAccounts(c AccountsConfig) (*Accounts, error) {
	if len(c.Issuers) == 0 || c.Signer == nil {
		return nil, errors.New("auth: tokens need an issuer and a key")
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

// Audiences are those of a token that names none.
func (a *Accounts) Audiences() []string { return a.config.Audiences }

// Issue returns the signed token.
func (a *Accounts) Issue(c Claim) (string, error) {
	t := jwt.NewWithClaims(a.signer.method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: a.config.Issuers[0], Subject: ServiceAccountName(c.Namespace, c.Name), Audience: c.Audiences,
			IssuedAt: jwt.NewNumericDate(c.Issued), NotBefore: jwt.NewNumericDate(c.Issued), ExpiresAt: jwt.NewNumericDate(c.Expires),
			ID: string(uuid.NewUUID()),
		},
		Kubernetes: kubernetesClaim{Namespace: c.Namespace, Account: Ref{c.Name, c.UID}, Pod: c.Pod, Secret: c.Secret, Node: c.Node},
	})
	t.Header["kid"] = a.signer.id
	delete(t.Header, "typ") // kube-apiserver's have none
	return t.SignedString(a.config.Signer)
}

// Documents returns what the issuer publishes for those who verify its tokens elsewhere: the OpenID
// configuration, which says where the keys are, and the keys. Error: the issuer isn't an https URL that
// can stand there (K pkg/serviceaccount/openidmetadata.go: NewOpenIDMetadataProvider).
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
