package pki

import (
	"crypto/x509"
	"encoding/pem"
	"slices"

	"k8s.io/client-go/util/cert"
)

// Authorities are certificate authorities of clients: fixed ones, and those of a file, which is read again when it
// changes. Bundle.Authorities creates them. The methods may be called from any goroutine.
type Authorities struct {
	fixed authorities
	file  *reloaded[authorities] // nil without a file; includes the fixed ones
}

// authorities are certificate authorities in several forms.
type authorities struct {
	certs []*x509.Certificate
	pool  *x509.CertPool
	pem   []byte
}

func newAuthorities(certs []*x509.Certificate) authorities {
	a := authorities{certs: certs, pool: x509.NewCertPool()}
	for _, c := range certs {
		a.pool.AddCert(c)
		a.pem = append(a.pem, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return a
}

// Authorities returns the fixed authorities and those of a PEM file. The path may be empty. The error does not name the
// file.
func (b *Bundle) Authorities(path string, fixed ...*x509.Certificate) (*Authorities, error) {
	a := &Authorities{fixed: newAuthorities(fixed)}
	if path == "" {
		return a, nil
	}
	var err error
	a.file, err = newReloaded(&b.options, func(contents [][]byte) (authorities, error) {
		certs, err := cert.ParseCertsPEM(contents[0])
		return newAuthorities(slices.Concat(fixed, certs)), err
	}, path)
	return a, err
}

func (a *Authorities) now() authorities {
	if a.file == nil {
		return a.fixed
	}
	return a.file.get()
}

// Pool returns the current authorities. It returns the same pool until the file changes.
func (a *Authorities) Pool() *x509.CertPool { return a.now().pool }

// PEM returns the certificates of the current authorities.
func (a *Authorities) PEM() []byte { return a.now().pem }
