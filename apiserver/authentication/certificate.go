package authentication

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// ErrNameless is the error for a certificate without a common name, which is the name of the user.
var ErrNameless = errors.New("authentication: the client's certificate has no common name")

// Pool returns the currently trusted certificate authorities. It returns the same pointer until they change.
type Pool func() *x509.CertPool

// PoolOf returns a Pool of authorities that never change.
func PoolOf(authorities ...*x509.Certificate) Pool {
	p := x509.NewCertPool()
	for _, a := range authorities {
		p.AddCert(a)
	}
	return func() *x509.CertPool { return p }
}

// Certificates authenticates clients by certificates that trusted authorities have signed. Its methods may be called
// from any goroutine.
type Certificates struct{ chains chains[authorization.User] }

// NewCertificates returns Certificates for the authorities.
func NewCertificates(authorities Pool) *Certificates {
	return &Certificates{chains[authorization.User]{roots: authorities, read: fromCertificate}}
}

// User returns the user of a client's certificate chain. The first certificate is the client's, whose key the handshake
// has verified. The others are intermediate certificates (AS pkg/authentication/request/x509).
func (c *Certificates) User(chain []*x509.Certificate, now time.Time) (authorization.User, error) {
	return c.chains.verify(chain, now)
}

// chains verifies certificate chains of clients.
type chains[T any] struct {
	roots Pool
	// read returns the identity in a verified client certificate, or an error that rejects it.
	read func(leaf *x509.Certificate) (T, error)

	// mu guards the fields below. verified has the chains that were accepted with the roots trusted, by their digests.
	mu       sync.Mutex
	trusted  *x509.CertPool
	verified map[[sha256.Size]byte]verifiedChain[T]
}

// verifiedChain is the result of a verification. It is valid between two times.
type verifiedChain[T any] struct {
	identity    T
	from, until time.Time
}

const (
	maxChains = 1024
	chainLife = time.Minute
)

// verify verifies a chain, whose first certificate is the client's, and returns the identity in that certificate.
func (c *chains[T]) verify(chain []*x509.Certificate, now time.Time) (identity T, err error) {
	if len(chain) == 0 {
		return identity, ErrNoCredentials
	}
	roots, leaf := c.roots(), chain[0]
	h := sha256.New()
	for _, cert := range chain {
		h.Write(cert.Raw)
	}
	digest := [sha256.Size]byte(h.Sum(nil))
	if v, ok := c.known(roots, digest, now); ok {
		return v.identity, nil
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	trusted, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return identity, fmt.Errorf("verifying the client's certificate: %w", err)
	}
	if identity, err = c.read(leaf); err != nil {
		return identity, err
	}
	v := verifiedChain[T]{identity: identity, from: now, until: now.Add(chainLife)}
	for _, cert := range trusted[0] { // an authority may expire before the client's certificate
		if cert.NotAfter.Before(v.until) {
			v.until = cert.NotAfter
		}
	}
	c.addVerified(roots, digest, v)
	return identity, nil
}

// known returns the result of an earlier verification with the same roots.
func (c *chains[T]) known(roots *x509.CertPool, digest [sha256.Size]byte, now time.Time) (v verifiedChain[T], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trusted == roots {
		v, ok = c.verified[digest]
	}
	return v, ok && !now.Before(v.from) && now.Before(v.until)
}

func (c *chains[T]) addVerified(roots *x509.CertPool, digest [sha256.Size]byte, v verifiedChain[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trusted != roots || len(c.verified) >= maxChains {
		c.trusted, c.verified = roots, map[[sha256.Size]byte]verifiedChain[T]{}
	}
	c.verified[digest] = v
}

// uidName is the subject attribute with the user's UID.
var uidName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// fromCertificate returns the user: its name is the common name, its groups are the organizations.
func fromCertificate(cert *x509.Certificate) (authorization.User, error) {
	s := cert.Subject
	if s.CommonName == "" {
		return authorization.User{}, ErrNameless
	}
	u := authorization.User{Name: s.CommonName, Groups: append([]string{}, s.Organization...)}
	for _, n := range s.Names {
		if uid, ok := n.Value.(string); ok && n.Type.Equal(uidName) {
			u.UID = uid
		}
	}
	sum := sha256.Sum256(cert.Raw)
	u.Extra = map[string][]string{user.CredentialIDKey: {"X509SHA256=" + hex.EncodeToString(sum[:])}}
	return authenticated(u), nil
}

// ErrNoCredentials is the error for a client that has sent no credentials.
var ErrNoCredentials = errors.New("authentication: no credentials")

// authenticated adds the group system:authenticated, unless the user is anonymous or in system:unauthenticated (AS
// pkg/authentication/group/authenticated_group_adder.go).
func authenticated(u authorization.User) authorization.User {
	if u.Name != authorization.NameAnonymous && !slices.Contains(u.Groups, authorization.GroupAuthenticated) &&
		!slices.Contains(u.Groups, authorization.GroupUnauthenticated) {
		u.Groups = append(slices.Clip(u.Groups), authorization.GroupAuthenticated)
	}
	return u
}
