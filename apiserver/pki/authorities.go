package pki

import (
	"crypto/x509"
	"encoding/pem"
	"slices"

	"k8s.io/client-go/util/cert"
)

// Authorities are certificate authorities of clients: fixed ones, and those of a file, which is read again when it
// changes. Make them with Bundle.Authorities. The methods may be called from any goroutine.
type Authorities struct {
	fixed authorities
	file  *reloaded[authorities] // nil without a file; it includes the fixed ones
}

// authorities are the same ones in several forms.
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

// Authorities returns the fixed authorities and those of a PEM file; an empty path is no file. The error does not name
// the file.
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

// Pool has the present authorities. It is the same pool as long as the file doesn't change.
func (a *Authorities) Pool() *x509.CertPool { return a.now().pool }

// PEM has the certificates of the present authorities.
func (a *Authorities) PEM() []byte { return a.now().pem }
