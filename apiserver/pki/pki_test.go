package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/keyutil"
)

func TestKeptAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	a, err := Ensure(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Ensure(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !a.authority.cert.Equal(b.authority.cert) || !a.serving.cert.Equal(b.serving.cert) ||
		!a.client.cert.Equal(b.client.cert) {
		t.Error("a restart made new certificates")
	}
	if !a.ServiceAccountKey.Equal(b.ServiceAccountKey) {
		t.Error("a restart made a new key for tokens")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 7 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f, st.Mode(), err)
		}
	}
}

func TestServerRenewsCertificatesButNotAuthority(t *testing.T) {
	now := time.Now()
	o := Options{Dir: t.TempDir(), Now: func() time.Time { return now }}
	b, err := Ensure(o)
	if err != nil {
		t.Fatal(err)
	}
	first, err := b.certificate()
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(certificateLife * 3 / 4)
	second, err := b.certificate()
	if err != nil {
		t.Fatal(err)
	}
	if first.Leaf.Equal(second.Leaf) {
		t.Error("a running server kept a certificate with a quarter of its life left")
	}
	again, err := Ensure(o)
	if err != nil {
		t.Fatal(err)
	}
	if !again.authority.cert.Equal(b.authority.cert) {
		t.Error("the authority was renewed with most of its life left")
	}
	if again.client.cert.Equal(b.client.cert) {
		t.Error("the client's certificate was not renewed")
	}
}

func TestNewHostNewCertificate(t *testing.T) {
	dir := t.TempDir()
	a, err := Ensure(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Ensure(Options{Dir: dir, Hosts: []string{"10.1.2.3", "api.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.serving.cert.Equal(b.serving.cert) {
		t.Fatal("the serving certificate lacks the new hosts")
	}
	for _, h := range []string{"10.1.2.3", "api.example.com", "localhost", "127.0.0.1"} {
		if err := b.serving.cert.VerifyHostname(h); err != nil {
			t.Error(err)
		}
	}
}

// TestTornWriteIsRepaired: files are repaired after a crash between the writes of a key and of its certificate.
func TestTornWriteIsRepaired(t *testing.T) {
	dir := t.TempDir()
	if _, err := Ensure(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	other, err := newPair(template("other", nil, time.Now(), time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := keyutil.MarshalPrivateKeyToPEM(other.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(filepath.Join(dir, "apiserver.key"), data, private); err != nil {
		t.Fatal(err)
	}
	b, err := Ensure(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !b.serving.key.PublicKey.Equal(b.serving.cert.PublicKey) {
		t.Error("key and certificate don't belong together")
	}
}

func TestHandshakeIdentifiesAdministrator(t *testing.T) {
	b, err := Ensure(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := b.TLS(TLSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{TLSConfig: config, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName+" "+r.Proto)
		}
	})}
	served := make(chan error, 1)
	go func() { served <- srv.ServeTLS(ln, "", "") }()
	defer func() {
		srv.Close()
		<-served
	}()
	roots := x509.NewCertPool()
	roots.AddCert(b.authority.cert)
	get := func(certs ...tls.Certificate) string {
		tr := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certs}}
		defer tr.CloseIdleConnections()
		res, err := (&http.Client{Transport: tr}).Get("https://" + ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := get(tls.Certificate{
		Certificate: [][]byte{b.client.cert.Raw}, PrivateKey: b.client.key,
	}); got != "kubernetes-admin HTTP/2.0" {
		t.Errorf("the administrator is %q", got)
	}
	if got := get(); got != "" {
		t.Errorf("a client without a certificate is %q", got)
	}
}

// TestOptionsCertificateIsServed: a configured certificate is served, and the kubeconfig trusts it.
func TestOptionsCertificateIsServed(t *testing.T) {
	other, err := Ensure(Options{Dir: t.TempDir(), Hosts: []string{"given.example"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := other.options.Dir
	now := time.Now()
	b, err := Ensure(Options{
		Dir: t.TempDir(), CertFile: filepath.Join(dir, "apiserver.crt"), KeyFile: filepath.Join(dir, "apiserver.key"),
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(certificateLife * 3 / 4) // when a generated one is renewed
	if _, err := b.Renew(); err != nil {
		t.Error(err)
	}
	config, err := b.TLS(TLSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := config.GetCertificate(nil)
	if err != nil || !served.Leaf.Equal(other.serving.cert) {
		t.Errorf("another certificate is served: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.AuthorityPEM())
	if _, err := served.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "given.example"}); err != nil {
		t.Error(err)
	}
	if _, err := Ensure(Options{Dir: t.TempDir(), CertFile: "missing", KeyFile: "missing"}); !os.IsNotExist(
		errors.Unwrap(err),
	) {
		t.Errorf("a missing file: %v", err)
	}
}
