package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
)

// TLSOptions are the options of Bundle.TLS. By default, the bundle's authority signs clients' certificates.
type TLSOptions struct {
	// Clients are the authorities that the handshake names, so that clients know which certificate to send. Default:
	// the bundle's authority.
	Clients []*Authorities
	// Named are the serving certificates for other names. Earlier ones take precedence.
	Named []NamedCertificate
	// MinVersion, CipherSuites and Curves are fields of tls.Config. The default of MinVersion is TLS 1.2.
	MinVersion   uint16
	CipherSuites []uint16
	Curves       []tls.CurveID
	// HTTP1 disables HTTP/2.
	HTTP1 bool
}

// NamedCertificate is the serving certificate for some host names (SNI) or IP addresses.
type NamedCertificate struct {
	// CertFile and KeyFile are PEM files with the certificate, its intermediate certificates, and its key.
	CertFile, KeyFile string
	// Names are the names. The first label of a name may be "*". Default: the common name and the DNS names of the
	// certificate. Explicit names take precedence over such default names.
	Names []string
}

// TLS returns the configuration of the secure port. It offers HTTP/2 and requests client certificates. The handshake
// proves that the client has the key. The handler verifies the chain, so that it can report an error.
func (b *Bundle) TLS(o TLSOptions) (*tls.Config, error) {
	s := &secure{bundle: b, clients: o.Clients}
	if len(s.clients) == 0 {
		s.clients = []*Authorities{{fixed: newAuthorities([]*x509.Certificate{b.authority.cert})}}
	}
	for _, n := range o.Named {
		files, err := newReloaded(&b.options, parseServing, n.CertFile, n.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("reading the serving certificate %s: %w", n.CertFile, err)
		}
		s.named = append(s.named, named{files: files, names: n.Names})
	}
	protocols := []string{"h2", "http/1.1"}
	if o.HTTP1 {
		protocols = protocols[1:]
	}
	s.base = &tls.Config{
		MinVersion: max(o.MinVersion, tls.VersionTLS12), CipherSuites: o.CipherSuites, CurvePreferences: o.Curves,
		NextProtos: protocols, ClientAuth: tls.RequestClientCert, GetCertificate: s.certificate,
	}
	if o.MinVersion != 0 {
		s.base.MinVersion = o.MinVersion
	}
	s.pools, s.base.ClientCAs = s.authorities()
	s.base.GetConfigForClient = s.forClient
	return s.base, nil
}

// secure chooses the certificates of a handshake.
type secure struct {
	bundle  *Bundle
	clients []*Authorities
	named   []named
	base    *tls.Config

	mu sync.Mutex // guards the fields below
	// pools are the pools of the clients' authorities in the current configuration.
	pools   []*x509.CertPool
	changed *tls.Config // base with the current authorities; nil if base has them
}

// authorities returns the pools of the clients' authorities, and a pool with all of them.
func (s *secure) authorities() (pools []*x509.CertPool, all *x509.CertPool) {
	all = x509.NewCertPool()
	for _, a := range s.clients {
		now := a.now()
		pools = append(pools, now.pool)
		for _, c := range now.certs {
			all.AddCert(c)
		}
	}
	return pools, all
}

// forClient returns the configuration with the current authorities, or nil for the original one. After a change
// sessions can still be resumed, because the keys of the tickets stay the same.
func (s *secure) forClient(*tls.ClientHelloInfo) (*tls.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := true
	for i, a := range s.clients {
		same = same && a.Pool() == s.pools[i]
	}
	if !same {
		c := s.base.Clone()
		s.pools, c.ClientCAs = s.authorities()
		s.changed = c
	}
	return s.changed, nil
}

// certificate chooses the serving certificate as crypto/tls chooses among upstream's (AS
// pkg/server/dynamiccertificates/tlsconfig.go: GetConfigForClient, syncCerts). It is the certificate for the client's
// name or, without one, for the address. Otherwise it is the first that the client supports, beginning with the
// default.
func (s *secure) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	byDefault, err := s.bundle.certificate()
	if len(s.named) == 0 || err != nil || hello == nil {
		return byDefault, err
	}
	names, all := byName(s.named)
	for _, name := range wanted(hello) {
		if c := names[name]; c != nil {
			return c, nil
		}
	}
	for _, c := range append([]*tls.Certificate{byDefault}, all...) {
		if hello.SupportsCertificate(c) == nil {
			return c, nil
		}
	}
	return byDefault, nil
}

// wanted returns the names of certificates that suit the client, in order of preference.
func wanted(hello *tls.ClientHelloInfo) []string {
	if hello.ServerName == "" {
		if host, _, err := net.SplitHostPort(hello.Conn.LocalAddr().String()); err == nil {
			return []string{host}
		}
		return nil
	}
	name := strings.ToLower(hello.ServerName)
	_, domain, _ := strings.Cut(name, ".")
	if domain == "" {
		return []string{name, "*"}
	}
	return []string{name, "*." + domain}
}

// named is a serving certificate with its names.
type named struct {
	files *reloaded[*serving]
	names []string
}

// byName returns the certificates by name, and all of them in their order.
func byName(list []named) (names map[string]*tls.Certificate, all []*tls.Certificate) {
	explicit, implicit := map[string]*tls.Certificate{}, map[string]*tls.Certificate{}
	for _, n := range slices.Backward(list) { // earlier ones take precedence
		c := n.files.get().cert
		all = append(all, c)
		for _, name := range n.names {
			explicit[name] = c
		}
		if len(n.names) == 0 {
			for _, name := range ownNames(c.Leaf) {
				implicit[name] = c
			}
		}
	}
	maps.Copy(implicit, explicit)
	slices.Reverse(all)
	return implicit, all
}

// ownNames returns the DNS names of a certificate, including its common name if that is one. It does not return
// addresses, because SNI does not have them (AS pkg/server/dynamiccertificates/named_certificates.go:
// getCertificateNames).
func ownNames(c *x509.Certificate) []string {
	cn := c.Subject.CommonName
	if net.ParseIP(cn) == nil && (cn == "*" || len(validation.IsDNS1123Subdomain(strings.TrimPrefix(cn, "*."))) == 0) {
		return append([]string{cn}, c.DNSNames...)
	}
	return c.DNSNames
}

// serving is a serving certificate with its key.
type serving struct {
	cert *tls.Certificate
	// pem has only the certificates, because clients get it and the file may also contain the key.
	pem []byte
}

// parseServing parses the contents of a certificate file and of its key.
func parseServing(contents [][]byte) (*serving, error) {
	c, err := tls.X509KeyPair(contents[0], contents[1])
	if err == nil && c.Leaf == nil {
		c.Leaf, err = x509.ParseCertificate(c.Certificate[0])
	}
	s := &serving{cert: &c}
	for _, der := range c.Certificate {
		s.pem = append(s.pem, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return s, err
}
