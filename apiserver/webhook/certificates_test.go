package webhook_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// authority signs certificates for localhost.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(t *testing.T) *authority {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, key: key}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	a.cert = a.parse(a.sign(a.cert, key.Public()))
	return a
}

func (a *authority) sign(c *x509.Certificate, key crypto.PublicKey) []byte {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func (a *authority) parse(der []byte) *x509.Certificate {
	a.t.Helper()
	c, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// webhook starts a webhook whose certificate has the names and the signature algorithm.
func (a *authority) webhook(signature x509.SignatureAlgorithm, names ...string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	der := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), SignatureAlgorithm: signature,
	}, key.Public())
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{}")) // on an error the client has disconnected
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	a.t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

// TestCertificates: a webhook whose certificate has only a common name, or a SHA-1 signature, is not called, and the
// failure is counted under upstream's name (L-112).
func TestCertificates(t *testing.T) {
	a := newAuthority(t)
	clients, registry := webhook.NewClients(nil), prometheus.NewRegistry()
	clients.Register(registry)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	for _, c := range []struct {
		name, url, err string
		noNames, sha1  float64
	}{
		{"good", a.webhook(x509.SHA256WithRSA, "localhost"), "", 0, 0},
		{"no names", a.webhook(x509.SHA256WithRSA), "certificate relies on legacy Common Name field", 1, 0},
		{"SHA-1", a.webhook(x509.SHA1WithRSA, "localhost"), "insecure algorithm SHA1-RSA", 1, 1},
		{"another name", a.webhook(x509.SHA256WithRSA, "example.com"), "not localhost", 1, 1},
	} {
		_, err := call(clients, t.Context(), at(c.url, ca), []byte("{}"))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		for name, want := range map[string]float64{
			"apiserver_webhooks_x509_missing_san_total": c.noNames, "apiserver_webhooks_x509_insecure_sha1_total": c.sha1,
		} {
			if have := gathered(t, registry, name); have != want {
				t.Errorf("%s: %s is %v, want %v", c.name, name, have, want)
			}
		}
	}
}

// gathered returns the value of a counter without labels.
func gathered(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}
