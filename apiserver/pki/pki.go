package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
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

// The lifetimes of certificates.
const (
	authorityLife   = 10 * 365 * 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
)

// Options are the options of Ensure.
type Options struct {
	// Dir is the directory of the files. It is created if it does not exist. Only its owner can read it.
	Dir string
	// Hosts are the names and addresses of the server, besides localhost.
	Hosts []string
	// CertFile and KeyFile are PEM files with the serving certificate, its intermediate certificates, and its key. They
	// are read again when they change. Without them, the authority signs a serving certificate.
	CertFile, KeyFile string
	// Now defaults to time.Now.
	Now func() time.Time
	// Log gets messages about failed renewals, lost keys, and an authority that is replaced or not valid yet. It
	// defaults to slog.Default.
	Log *slog.Logger
}

// Bundle has all keys and certificates.
type Bundle struct {
	options   Options
	authority pair
	// first reports whether the directory was empty. If it was, missing files are not reported as lost.
	first bool
	// given is the serving certificate of Options.CertFile. It is nil if the authority signs one.
	given *reloaded[*serving]
	// ServiceAccountKey signs service account tokens.
	ServiceAccountKey *ecdsa.PrivateKey

	// mu guards the fields below: handshakes and kubeconfigs read the pairs, renewals replace them. It is held while
	// files are written, so that two renewals don't mix the key of one with the certificate of the other.
	mu      sync.Mutex
	serving pair
	client  pair
	// failed is the time of the last failed renewal at a handshake that was logged, or zero after a success.
	failed time.Time
}

// Ensure reads the existing files, and creates those that are missing or due for renewal. It returns an error if it
// can't read or write them.
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
	if err = b.ensureServing(); err != nil {
		return nil, err
	}
	b.ServiceAccountKey, err = b.ensureKey("service-account.key")
	return b, err
}

// ensureServing reads the serving certificate of Options, or ensures one that the authority signs.
func (b *Bundle) ensureServing() (err error) {
	if b.options.CertFile == "" {
		b.serving, err = b.ensure("apiserver", b.servingTemplate(), &b.authority)
		return err
	}
	if b.given, err = newReloaded(&b.options, parseServing, b.options.CertFile, b.options.KeyFile); err != nil {
		return fmt.Errorf("reading the serving certificate %s: %w", b.options.CertFile, err)
	}
	return nil
}

// ensure returns the pair of that name. It creates a new one if the stored one is missing or due for renewal.
func (b *Bundle) ensure(name string, want *x509.Certificate, signer *pair) (pair, error) {
	path := filepath.Join(b.options.Dir, name)
	p, err := readPair(path)
	if err == nil && b.usable(p, want, signer) {
		return p, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pair{}, err
	}
	if signer == nil {
		if err := b.prepareReplacement(path, p, err); err != nil {
			return pair{}, err
		}
	}
	if p, err = newPair(want, signer); err != nil {
		return pair{}, fmt.Errorf("creating the certificate %s: %w", name, err)
	}
	return p, p.write(path)
}

// usable reports whether a stored pair can be used. It does not check the start of the validity of the authority, which
// has no signer, because a clock that is set back must not invalidate all kubeconfigs.
func (b *Bundle) usable(p pair, want *x509.Certificate, signer *pair) bool {
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

// KubeletClient returns a function that returns the server's client certificate for kubelets. It is in the files, which
// are read again when they change. Without files, the authority signs one, which is not stored, for the user and the
// group of kubeadm (cmd/kubeadm app/phases/certs/certlist.go: KubeadmCertKubeletClient).
func (b *Bundle) KubeletClient(certFile, keyFile string) (func() (*tls.Certificate, error), error) {
	return b.clientOf(certFile, keyFile, "kube-apiserver-kubelet-client", "kubeadm:cluster-admins")
}

// FrontProxy is the common name of the client certificate for extension API servers.
const FrontProxy = "front-proxy-client"

// FrontProxyClient is KubeletClient for extension API servers (KubeadmCertFrontProxyClient).
func (b *Bundle) FrontProxyClient(certFile, keyFile string) (func() (*tls.Certificate, error), error) {
	return b.clientOf(certFile, keyFile, FrontProxy)
}

func (b *Bundle) clientOf(certFile, keyFile, user string, groups ...string) (func() (*tls.Certificate, error), error) {
	if certFile != "" {
		files, err := newReloaded(&b.options, parseServing, certFile, keyFile)
		if err != nil {
			return nil, err
		}
		return func() (*tls.Certificate, error) { return files.get().cert, nil }, nil
	}
	var mu sync.Mutex
	var p pair
	return func() (c *tls.Certificate, err error) {
		mu.Lock()
		defer mu.Unlock()
		if now := b.options.Now(); p.cert == nil || stale(p.cert, now) {
			t := template(user, groups, now, certificateLife)
			t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			if p, err = newPair(t, &b.authority); err != nil {
				return nil, fmt.Errorf("creating the client certificate of %s: %w", user, err)
			}
		}
		return &tls.Certificate{Certificate: [][]byte{p.cert.Raw}, PrivateKey: p.key, Leaf: p.cert}, nil
	}, nil
}

// Authority returns the certificate of the authority that signs the other certificates.
func (b *Bundle) Authority() *x509.Certificate { return b.authority.cert }

// Sign signs a certificate for a client's public key with the authority, and returns it in DER. It does not check the
// content of the certificate.
func (b *Bundle) Sign(c *x509.Certificate, key crypto.PublicKey) ([]byte, error) {
	return x509.CreateCertificate(rand.Reader, c, b.authority.cert, key, b.authority.key)
}
