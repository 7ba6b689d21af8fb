package authentication

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrNameless says that a certificate has no common name, so there is no user name.
var ErrNameless = errors.New("authentication: the client's certificate has no common name")

// Certificates authenticates clients by certificates of some authorities. Make one with NewCertificates. Its methods
// may be called from any goroutine.
type Certificates struct {
	roots *x509.CertPool

	// mu guards verified: the verified chains, by their digests.
	mu       sync.Mutex
	verified map[[sha256.Size]byte]verifiedChain
}

// verifiedChain is a verified chain that is verified again after some time.
type verifiedChain struct {
	user        User
	from, until time.Time
}

const (
	mostChains = 1024
	chainLife  = time.Minute
)

// NewCertificates returns Certificates for the authorities.
func NewCertificates(authorities ...*x509.Certificate) *Certificates {
	c := &Certificates{roots: x509.NewCertPool(), verified: map[[sha256.Size]byte]verifiedChain{}}
	for _, a := range authorities {
		c.roots.AddCert(a)
	}
	return c
}

// User returns the user of a client's certificate chain: its own certificate, whose key the client has proved to have,
// and intermediate certificates (AS pkg/authentication/request/x509).
func (c *Certificates) User(chain []*x509.Certificate, now time.Time) (User, error) {
	if len(chain) == 0 {
		return User{}, ErrNoCredentials
	}
	h := sha256.New()
	for _, cert := range chain {
		h.Write(cert.Raw)
	}
	digest := [sha256.Size]byte(h.Sum(nil))
	c.mu.Lock()
	v, ok := c.verified[digest]
	c.mu.Unlock()
	if ok && !now.Before(v.from) && now.Before(v.until) {
		return v.user, nil
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	leaf := chain[0]
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: c.roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return User{}, fmt.Errorf("verifying the client's certificate: %w", err)
	}
	u, err := fromCertificate(leaf)
	if err != nil {
		return User{}, err
	}
	v = verifiedChain{user: u, from: now, until: now.Add(chainLife)}
	if leaf.NotAfter.Before(v.until) {
		v.until = leaf.NotAfter
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.verified) >= mostChains {
		clear(c.verified)
	}
	c.verified[digest] = v
	return u, nil
}

// uidName is the subject attribute with the user's UID.
var uidName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// fromCertificate returns the user: its name is the common name, its groups are the organizations.
func fromCertificate(cert *x509.Certificate) (User, error) {
	s := cert.Subject
	if s.CommonName == "" {
		return User{}, ErrNameless
	}
	u := User{Name: s.CommonName, Groups: append([]string{}, s.Organization...)}
	for _, n := range s.Names {
		if uid, ok := n.Value.(string); ok && n.Type.Equal(uidName) {
			u.UID = uid
		}
	}
	sum := sha256.Sum256(cert.Raw)
	u.Extra = map[string][]string{extraCredential: {"X509SHA256=" + hex.EncodeToString(sum[:])}}
	return u.authenticated(), nil
}
