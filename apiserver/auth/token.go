package auth

import (
	"crypto/ecdsa"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Claim is what a service account's token says.
type Claim struct {
	Namespace, Name, UID string
	Audiences            []string
	Issued, Expires      time.Time
}

// Issuer signs tokens for service accounts.
type Issuer struct {
	// URL is the issuer that tokens name, and the audience of those that ask for none.
	URL string
	Key *ecdsa.PrivateKey
}

// Audiences are those of a token that names none.
func (i *Issuer) Audiences() []string { return []string{i.URL} }

// accountRef is the private claim that Kubernetes' tokens carry.
type accountRef struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

type kubernetesClaim struct {
	Namespace      string     `json:"namespace"`
	ServiceAccount accountRef `json:"serviceaccount"`
}

type claims struct {
	jwt.RegisteredClaims
	Kubernetes kubernetesClaim `json:"kubernetes.io"`
}

// Issue returns the signed token (K pkg/serviceaccount/claims.go names the claims).
func (i *Issuer) Issue(c Claim) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: i.URL, Subject: ServiceAccount(c.Namespace, c.Name).Name, Audience: c.Audiences,
			IssuedAt: jwt.NewNumericDate(c.Issued), NotBefore: jwt.NewNumericDate(c.Issued), ExpiresAt: jwt.NewNumericDate(c.Expires),
			ID: string(uuid.NewUUID()),
		},
		Kubernetes: kubernetesClaim{c.Namespace, accountRef{c.Name, c.UID}},
	})
	return t.SignedString(i.Key)
}
