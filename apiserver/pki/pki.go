package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// How long certificates live.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
)

// Options say what is to be made.
type Options struct {
	// Dir holds the files; it is made if missing, readable by its owner only.
	Dir string
	// Hosts are the names and addresses that clients reach the server by, besides localhost.
	Hosts []string
	// Now defaults to time.Now.
	Now func() time.Time
	// Log hears of renewals that fail, of keys that were lost, and of an authority that is replaced or not
	// valid yet. It defaults to slog.Default.
	Log *slog.Logger
}

// Bundle is everything that was made or found.
type Bundle struct {
	options   Options
	authority pair
	// first says that there was nothing at all: what is missing isn't lost.
	first bool
	// ServiceAccountKey signs tokens of service accounts.
	ServiceAccountKey *ecdsa.PrivateKey

	// mu guards what follows: handshakes and kubeconfigs read the pairs, renewals replace them. It
	// is held while files are written, so that two renewals don't mix one's key with the other's
	// certificate.
	mu      sync.Mutex
	serving pair
	client  pair
	// failed is when a renewal at a handshake last failed and was logged; zero if the last one was
	// well.
	failed time.Time
}

// Ensure reads what is there and makes what is missing or stale. It returns an error if that
// can't be read or written.
func Ensure(o Options) (*Bundle, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the certificates' directory: %w", err)
	}
	b := &Bundle{options: o}
	var err error
	if b.first, err = empty(o.Dir); err != nil {
		return nil, err
	}
	if b.authority, err = b.ensure("ca", b.authorityTemplate(), nil); err != nil {
		return nil, err
	}
	if now := o.Now(); early(b.authority.cert, now) {
		o.Log.Warn("the certificate authority is not valid yet; check the clock. Client certificates are rejected "+
			"until then",
			"dir", o.Dir, "now", now, "validFrom", b.authority.cert.NotBefore)
	}
	if b.client, err = b.ensure("admin", b.clientTemplate(), &b.authority); err != nil {
		return nil, err
	}
	if b.serving, err = b.ensure("apiserver", b.servingTemplate(), &b.authority); err != nil {
		return nil, err
	}
	b.ServiceAccountKey, err = b.ensureKey("service-account.key")
	return b, err
}

// ensure returns the pair of that name, a new one if the stored one is missing or stale.
func (b *Bundle) ensure(name string, want *x509.Certificate, signer *pair) (pair, error) {
	path := filepath.Join(b.options.Dir, name)
	p, err := readPair(path)
	if err == nil && b.good(p, want, signer) {
		return p, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pair{}, err
	}
	if signer == nil {
		if err := b.replacing(path, p, err); err != nil {
			return pair{}, err
		}
	}
	if p, err = newPair(want, signer); err != nil {
		return pair{}, fmt.Errorf("creating the certificate %s: %w", name, err)
	}
	return p, p.write(path)
}

// good reports whether a stored pair still serves. An authority, which has no signer, isn't judged
// by its start: a clock that was set back is no reason to break every kubeconfig.
func (b *Bundle) good(p pair, want *x509.Certificate, signer *pair) bool {
	now := b.options.Now()
	if signer == nil {
		return !expiring(p.cert, now)
	}
	if stale(p.cert, now) || p.cert.CheckSignatureFrom(signer.cert) != nil {
		return false
	}
	for _, ip := range want.IPAddresses {
		if !slices.ContainsFunc(p.cert.IPAddresses, ip.Equal) {
			return false
		}
	}
	for _, name := range want.DNSNames {
		if !slices.Contains(p.cert.DNSNames, name) {
			return false
		}
	}
	return true
}

func (b *Bundle) authorityTemplate() *x509.Certificate {
	c := template("kubecascade-ca", nil, b.options.Now(), authorityLife)
	c.IsCA, c.BasicConstraintsValid = true, true
	c.KeyUsage |= x509.KeyUsageCertSign
	return c
}

func (b *Bundle) clientTemplate() *x509.Certificate {
	c := template("kubernetes-admin", []string{"system:masters"}, b.options.Now(), certificateLife)
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return c
}

func (b *Bundle) servingTemplate() *x509.Certificate {
	c := template("kube-apiserver", nil, b.options.Now(), certificateLife)
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	c.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, h := range b.options.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else if h != "" {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	return c
}

// Authority is the certificate of the authority that signs the other certificates.
func (b *Bundle) Authority() *x509.Certificate { return b.authority.cert }

// TLS is the configuration of the secure port: HTTP/2, and clients are asked for certificates of the
// authority and of further ones. What they show is theirs, as they prove to have its key; whether it is
// by one of the authorities is for the server to verify, which can then say what was wrong.
func (b *Bundle) TLS(further ...*x509.Certificate) *tls.Config {
	clients := x509.NewCertPool()
	for _, c := range append([]*x509.Certificate{b.authority.cert}, further...) {
		clients.AddCert(c)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		ClientAuth: tls.RequestClientCert, ClientCAs: clients,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return b.certificate() },
	}
}
