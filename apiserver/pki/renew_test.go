package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// rig is a bundle with a clock and a log of the test.
type rig struct {
	*Bundle
	o   Options
	now time.Time
	log bytes.Buffer
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{now: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)}
	r.o = Options{Dir: filepath.Join(t.TempDir(), "pki"), Now: func() time.Time { return r.now },
		Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	r.start(t)
	if r.log.Len() > 0 {
		t.Fatalf("a first start logged %s", &r.log)
	}
	return r
}

// start simulates a restart of the server.
func (r *rig) start(t *testing.T) {
	t.Helper()
	b, err := Ensure(r.o)
	if err != nil {
		t.Fatal(err)
	}
	r.Bundle = b
}

func (r *rig) shake(t *testing.T) *x509.Certificate {
	t.Helper()
	c, err := r.certificate()
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf
}

func (r *rig) wantLines(t *testing.T, n int, text string) {
	t.Helper()
	if got := strings.Count(r.log.String(), text); got != n || strings.Count(r.log.String(), "\n") != n {
		t.Errorf("%d of %d lines say %q:\n%s", got, n, text, &r.log)
	}
}

// away moves the directory, so that not even root can write to it. back restores it.
func (r *rig) away(t *testing.T) (back func()) {
	t.Helper()
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(r.o.Dir, r.o.Dir+".away")
	return func() { move(r.o.Dir+".away", r.o.Dir) }
}

// verify checks a certificate against the authority at the rig's time.
func (r *rig) verify(t *testing.T, c *x509.Certificate, use x509.ExtKeyUsage) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(r.authority.cert)
	if _, err := c.Verify(
		x509.VerifyOptions{Roots: roots, CurrentTime: r.now, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
		t.Error(err)
	}
}

func TestFailedRenewalKeepsServing(t *testing.T) {
	r := newRig(t)
	first := r.shake(t)
	back := r.away(t)
	const failure = "failed to renew the serving certificate"
	r.now = r.now.Add(certificateLife * 3 / 4)
	for range 3 {
		if !r.shake(t).Equal(first) {
			t.Fatal("a certificate that couldn't be stored is served")
		}
		r.now = r.now.Add(time.Minute)
	}
	r.wantLines(t, 1, failure)
	r.now = r.now.Add(time.Hour)
	r.shake(t)
	r.wantLines(t, 2, failure)

	r.now = first.NotAfter
	r.shake(t)
	r.wantLines(t, 3, failure)
	r.now = r.now.Add(time.Second)
	for range 3 {
		if c, err := r.certificate(); err == nil {
			t.Fatalf("a certificate that expired at %v is served at %v", c.Leaf.NotAfter, r.now)
		}
	}
	r.wantLines(t, 3, failure)

	back()
	fresh := r.shake(t)
	if fresh.Equal(first) {
		t.Error("the certificate was not renewed when that was possible again")
	}
	r.verify(t, fresh, x509.ExtKeyUsageServerAuth)
	r.wantLines(t, 3, failure)
}

func TestRenewalResumesBeforeExpiry(t *testing.T) {
	for name, pass := range map[string]time.Duration{"an hour later": time.Hour, "the clock set back": -2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			first := r.shake(t)
			back := r.away(t)
			r.now = r.now.Add(certificateLife * 3 / 4)
			r.shake(t)
			back()
			r.now = r.now.Add(pass)
			if r.shake(t).Equal(first) {
				t.Error("the old certificate is still served")
			}
		})
	}
}

func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	authority, serving, client, start := r.authority.cert, r.serving.cert, r.client.cert, r.now
	r.now = start.Add(-5 * time.Hour)
	r.start(t)
	if !r.authority.cert.Equal(authority) {
		t.Fatal("a clock that was set back replaced the authority")
	}
	r.wantLines(t, 1, "the certificate authority is not valid yet")
	if r.serving.cert.Equal(serving) || r.client.cert.Equal(client) {
		t.Error("certificates that are not valid yet were kept")
	}

	r.now = start
	r.start(t)
	if !r.authority.cert.Equal(authority) {
		t.Fatal("a clock that was set right replaced the authority")
	}
	r.wantLines(t, 1, "the certificate authority is not valid yet")
	r.verify(t, client, x509.ExtKeyUsageClientAuth) // a copy of the first kubeconfig
	r.verify(t, r.client.cert, x509.ExtKeyUsageClientAuth)
	r.verify(t, r.serving.cert, x509.ExtKeyUsageServerAuth)
}

func TestClockSetBackFailedRenewal(t *testing.T) {
	r := newRig(t)
	first := r.shake(t)
	r.away(t)
	r.now = r.now.Add(-5 * time.Hour)
	if !r.shake(t).Equal(first) {
		t.Error("a certificate that couldn't be stored is served")
	}
}

func TestRenewReplacesOnlyDueCertificates(t *testing.T) {
	r := newRig(t)
	authority, serving, client := r.authority.cert, r.serving.cert, r.client.cert
	renew := func(want bool) {
		t.Helper()
		if changed, err := r.Renew(); err != nil || changed != want {
			t.Fatalf("changed %v, %v; want %v", changed, err, want)
		}
	}
	renew(false)
	r.now = r.now.Add(certificateLife / 2)
	renew(false)
	if !r.serving.cert.Equal(serving) || !r.client.cert.Equal(client) {
		t.Fatal("certificates were replaced before they were due")
	}
	r.now = r.now.Add(certificateLife / 4)
	renew(true)
	renew(false)
	if r.serving.cert.Equal(serving) || r.client.cert.Equal(client) || !r.authority.cert.Equal(authority) {
		t.Fatal("not the serving and the client's certificate alone were renewed")
	}
	r.now = client.NotAfter.Add(time.Hour)
	r.verify(t, r.serving.cert, x509.ExtKeyUsageServerAuth)
	r.verify(t, r.client.cert, x509.ExtKeyUsageClientAuth)
	if got := kubeconfigClient(t, r.Bundle); !got.Equal(r.client.cert) {
		t.Error("the kubeconfig has another certificate than the renewed one")
	}

	kept := r.Bundle
	r.start(t)
	if !r.serving.cert.Equal(kept.serving.cert) || !r.client.cert.Equal(kept.client.cert) {
		t.Error("what was renewed was not stored")
	}
}

// TestRenewAfterHandshake: in the usual order, a handshake has already renewed the serving certificate, but not the
// client's.
func TestRenewAfterHandshake(t *testing.T) {
	r := newRig(t)
	client := r.client.cert
	r.now = r.now.Add(certificateLife * 3 / 4)
	serving := r.shake(t)
	if changed, err := r.Renew(); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if !r.serving.cert.Equal(serving) || r.client.cert.Equal(client) {
		t.Error("not the client's certificate alone was renewed")
	}
}

func TestRenewFails(t *testing.T) {
	r := newRig(t)
	serving, client := r.serving.cert, r.client.cert
	back := r.away(t)
	r.now = r.now.Add(certificateLife * 3 / 4)
	changed, err := r.Renew()
	if err == nil || changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	for _, name := range []string{"apiserver", "admin"} {
		if !strings.Contains(err.Error(), filepath.Join(r.o.Dir, name)) {
			t.Errorf("the error doesn't name %s: %v", name, err)
		}
	}
	if !r.serving.cert.Equal(serving) || !r.client.cert.Equal(client) {
		t.Error("certificates that couldn't be stored are in use")
	}
	back()

	// A certificate that can't be renewed doesn't prevent the renewal of the other.
	if err := os.WriteFile(filepath.Join(r.o.Dir, "apiserver.crt"), []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := r.Renew(); err == nil || !changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	if !r.serving.cert.Equal(serving) || r.client.cert.Equal(client) {
		t.Error("not the client's certificate alone was renewed")
	}
}

func TestRenewDuringHandshakes(t *testing.T) {
	r := newRig(t)
	r.now = r.now.Add(certificateLife * 3 / 4)
	config, err := r.TLS(TLSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	get := config.GetCertificate
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				c, err := get(&tls.ClientHelloInfo{})
				if err != nil {
					t.Error(err)
					return
				}
				if c.Leaf.CheckSignatureFrom(r.authority.cert) != nil || expiring(c.Leaf, r.now) {
					t.Error("a handshake got a certificate that doesn't serve")
				}
				if _, err := r.Kubeconfig("https://localhost"); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			if _, err := r.Renew(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range []pair{r.serving, r.client} {
		if !p.key.PublicKey.Equal(p.cert.PublicKey) {
			t.Error("key and certificate don't belong together")
		}
	}
	kept := r.Bundle
	r.start(t)
	if !r.serving.cert.Equal(kept.serving.cert) || !r.client.cert.Equal(kept.client.cert) {
		t.Error("other certificates are stored than are in use")
	}
}

func TestExpiringAuthority(t *testing.T) {
	r := newRig(t)
	first, key, client := r.authority.cert, r.ServiceAccountKey, r.client.cert
	r.now = r.now.Add(authorityLife * 3 / 4)
	if _, err := r.Renew(); err != nil {
		t.Fatal(err)
	}
	r.shake(t)
	if !r.authority.cert.Equal(first) {
		t.Fatal("a running server replaced its authority")
	}
	if r.log.Len() > 0 {
		t.Errorf("logged %s", &r.log)
	}

	r.start(t)
	if r.authority.cert.Equal(first) {
		t.Fatal("an authority with a quarter of its life left was kept by a start")
	}
	r.wantLines(t, 1, "replacing the certificate authority")
	r.verify(t, r.serving.cert, x509.ExtKeyUsageServerAuth)
	r.verify(t, r.client.cert, x509.ExtKeyUsageClientAuth)
	if client.CheckSignatureFrom(r.authority.cert) == nil {
		t.Error("a copy of an earlier kubeconfig is still accepted")
	}
	if !r.ServiceAccountKey.Equal(key) {
		t.Error("the key for tokens was replaced with the authority")
	}
}

func kubeconfigClient(t *testing.T, b *Bundle) *x509.Certificate {
	t.Helper()
	data, err := b.Kubeconfig("https://localhost")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(c.Users[0].User.Certificate)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
