package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// issue writes a serving certificate with the common name and DNS names to two files of a folder.
func issue(t *testing.T, dir, file, name string, dns ...string) NamedCertificate {
	t.Helper()
	c := template(name, nil, time.Now(), time.Hour)
	c.DNSNames, c.ExtKeyUsage = dns, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	p, err := newPair(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	if err := p.write(path); err != nil {
		t.Fatal(err)
	}
	return NamedCertificate{CertFile: path + ".crt", KeyFile: path + ".key"}
}

// handshake returns the client's connection state after a handshake.
func handshake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c, err := ln.Accept(); err == nil {
			s := tls.Server(c, server)
			if s.Handshake() == nil {
				_, _ = io.Copy(io.Discard, s) // until the client closes
			}
			c.Close()
		}
	}()
	defer func() { <-done }()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client.InsecureSkipVerify = true // the test compares the certificate
	s := tls.Client(c, client)
	err = s.Handshake()
	return s.ConnectionState(), err
}

// TestNamedCertificates: which certificate is served (AS pkg/server/options/serving_test.go).
func TestNamedCertificates(t *testing.T) {
	dir := t.TempDir()
	byDefault := issue(t, dir, "default", "default", "default.example")
	first := issue(t, dir, "first", "first.example", "*.wild.example")
	second := issue(t, dir, "second", "first.example", "second.example", "explicit.example")
	explicit := issue(t, dir, "explicit", "10.0.0.1", "unused.example")
	explicit.Names = []string{"explicit.example", "*.more.example"}
	b, err := Ensure(Options{Dir: t.TempDir(), CertFile: byDefault.CertFile, KeyFile: byDefault.KeyFile})
	if err != nil {
		t.Fatal(err)
	}
	config, err := b.TLS(TLSOptions{Named: []NamedCertificate{first, second, explicit}})
	if err != nil {
		t.Fatal(err)
	}
	serial := map[string]string{}
	for name, n := range map[string]NamedCertificate{
		"default": byDefault, "first": first, "second": second, "explicit": explicit,
	} {
		c, err := readPEM(n.CertFile, x509.ParseCertificate)
		if err != nil {
			t.Fatal(err)
		}
		serial[c.SerialNumber.String()] = name
	}
	check := func(server *tls.Config, want map[string]string) {
		t.Helper()
		for name, cert := range want {
			state, err := handshake(t, server, &tls.Config{ServerName: name})
			if err != nil {
				t.Fatal(name, err)
			}
			if got := serial[state.PeerCertificates[0].SerialNumber.String()]; got != cert {
				t.Errorf("%q: %s, want %s", name, got, cert)
			}
		}
	}
	check(config, map[string]string{
		"default.example": "default", "first.example": "first", "FIRST.example": "first", "a.wild.example": "first",
		"a.b.wild.example": "default", "second.example": "second", "explicit.example": "explicit",
		"x.more.example": "explicit", "more.example": "default", "unknown.example": "default", "": "default",
		// No option names it, but this is the only certificate that is valid for it.
		"unused.example": "explicit",
	})
	explicit.Names = []string{"127.0.0.1"}
	if config, err = b.TLS(TLSOptions{Named: []NamedCertificate{explicit}}); err != nil {
		t.Fatal(err)
	}
	check(config, map[string]string{"": "explicit", "default.example": "default"})
}

// TestOnlyAllowedVersionsAndSuitesConnect: older versions and other cipher suites than the allowed ones are rejected.
func TestOnlyAllowedVersionsAndSuitesConnect(t *testing.T) {
	b, err := Ensure(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	const suite = tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
	for name, c := range map[string]struct {
		o      TLSOptions
		client *tls.Config
		ok     bool
	}{
		"default, 1.2": {TLSOptions{}, &tls.Config{MaxVersion: tls.VersionTLS12}, true},
		"default, 1.1": {TLSOptions{}, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false},
		"1.0, 1.1": {
			TLSOptions{MinVersion: tls.VersionTLS10},
			&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, true,
		},
		"1.3, 1.2": {TLSOptions{MinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12}, false},
		"1.3, 1.3": {TLSOptions{MinVersion: tls.VersionTLS13}, &tls.Config{}, true},
		"suite": {
			TLSOptions{CipherSuites: []uint16{suite}},
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}, true,
		},
		"other suite": {
			TLSOptions{CipherSuites: []uint16{suite}}, &tls.Config{
				MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
			}, false,
		},
		"curve": {
			TLSOptions{Curves: []tls.CurveID{tls.CurveP256}}, &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}}, false,
		},
	} {
		config, err := b.TLS(c.o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handshake(t, config, c.client); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	config, err := b.TLS(TLSOptions{HTTP1: true})
	if err != nil {
		t.Fatal(err)
	}
	state, err := handshake(t, config, &tls.Config{NextProtos: []string{"h2", "http/1.1"}})
	if err != nil || state.NegotiatedProtocol != "http/1.1" {
		t.Errorf("%v %q", err, state.NegotiatedProtocol)
	}
}

// TestKeyInCertificateFile: if a file contains both certificates and the key, clients get only the certificates.
func TestKeyInCertificateFile(t *testing.T) {
	given := issue(t, t.TempDir(), "given", "given")
	cert, err := os.ReadFile(given.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(given.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(given.CertFile, slices.Concat(key, cert), private); err != nil {
		t.Fatal(err)
	}
	b, err := Ensure(Options{Dir: t.TempDir(), CertFile: given.CertFile, KeyFile: given.CertFile})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.AuthorityPEM(); !bytes.HasSuffix(got, cert) || bytes.Contains(got, []byte("PRIVATE KEY")) {
		t.Errorf("clients get\n%s", got)
	}
}

// TestReplacedCertificatesAreReloaded: certificates and authorities that are replaced on disk are used a second later.
// While only the certificate has been replaced, the old certificate and key are used.
func TestReplacedCertificatesAreReloaded(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	var log bytes.Buffer
	given := issue(t, dir, "given", "one", "given.example")
	named := issue(t, dir, "named", "one", "named.example")
	cas := issue(t, dir, "cas", "ca one")
	b, err := Ensure(Options{
		Dir: t.TempDir(), CertFile: given.CertFile, KeyFile: given.KeyFile, Now: func() time.Time { return now },
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := b.Authorities(cas.CertFile, b.Authority())
	if err != nil {
		t.Fatal(err)
	}
	config, err := b.TLS(TLSOptions{Clients: []*Authorities{clients}, Named: []NamedCertificate{named}})
	if err != nil {
		t.Fatal(err)
	}
	// look returns the common names of the two certificates, and of the authorities of clients.
	look := func() string {
		t.Helper()
		var seen []string
		for _, name := range []string{"given.example", "named.example"} {
			var asked [][]byte
			state, err := handshake(t, config, &tls.Config{ServerName: name,
				GetClientCertificate: func(r *tls.CertificateRequestInfo) (*tls.Certificate, error) {
					asked = r.AcceptableCAs
					return &tls.Certificate{}, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, state.PeerCertificates[0].Subject.CommonName)
			if !bytes.Contains(asked[0], []byte("kubecascade-ca")) || len(asked) != 2 {
				t.Errorf("the authorities are %q", asked)
			} else if name == "named.example" {
				seen = append(seen, string(asked[1][bytes.Index(asked[1], []byte("ca ")):]))
			}
		}
		return strings.Join(seen, ", ")
	}
	want := func(what, names string) {
		t.Helper()
		if got := look(); got != names {
			t.Errorf("%s: %s, want %s", what, got, names)
		}
	}
	want("at first", "one, one, ca one")
	key, err := os.ReadFile(given.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	before := clients.Pool()
	issue(t, dir, "given", "two", "given.example")
	issue(t, dir, "named", "two", "named.example")
	issue(t, dir, "cas", "ca two")
	whole, err := os.ReadFile(given.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(given.KeyFile, key, private); err != nil {
		t.Fatal(err)
	}
	want("before a second has passed", "one, one, ca one")
	now = now.Add(reloadPause)
	want("with the old key", "one, two, ca two")
	if !strings.Contains(log.String(), "failed to read files again") {
		t.Errorf("the log is %s", &log)
	}
	if clients.Pool() == before || !bytes.Contains(b.AuthorityPEM(), b.given.get().pem) {
		t.Error("the authorities are the old ones")
	}
	if err := os.WriteFile(given.KeyFile, whole, private); err != nil {
		t.Fatal(err)
	}
	now = now.Add(reloadPause)
	want("with the new key", "two, two, ca two")
	if err := os.Remove(cas.CertFile); err != nil {
		t.Fatal(err)
	}
	now = now.Add(reloadPause)
	want("without a file", "two, two, ca two")
	for range 2 { // it is logged once
		now = now.Add(reloadPause)
		clients.Pool()
	}
	if n := strings.Count(log.String(), "failed to read files again"); n != 2 { // one of them above
		t.Errorf("%d times in %s", n, &log)
	}
}
