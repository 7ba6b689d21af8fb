package authentication_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
)

// TestCertificatesKept: a certificate that was verified before is rejected after the authorities have changed, or after
// it has expired. This also holds for an equal certificate of another connection.
func TestCertificatesKept(t *testing.T) {
	ours, theirs := apiservertest.NewAuthority(t), apiservertest.NewAuthority(t)
	trusted := authentication.PoolOf(ours.Cert)
	certificates := authentication.NewCertificates(func() *x509.CertPool { return trusted() })
	now := time.Now()
	alice := apiservertest.NewCertificate(t, &ours, &x509.Certificate{
		Subject:   pkix.Name{CommonName: "alice"},
		NotBefore: now.Add(-time.Hour).Truncate(time.Second), NotAfter: now.Add(time.Hour).Truncate(time.Second),
	}).Cert
	for _, c := range []struct {
		what string
		by   authentication.Pool
		when time.Time
		good bool
	}{
		{"at first", trusted, now, true},
		{"again", trusted, now, true},
		{"by other authorities", authentication.PoolOf(theirs.Cert), now, false},
		{"by none", authentication.PoolOf(), now, false},
		{"by the former ones", trusted, now, true},
		{"before its time", trusted, alice.NotBefore.Add(-time.Second), false},
		{"at its last moment", trusted, alice.NotAfter, true},
		{"after its time", trusted, alice.NotAfter.Add(time.Second), false},
	} {
		trusted = c.by
		another, err := x509.ParseCertificate(alice.Raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, chain := range [][]*x509.Certificate{{alice}, {another}, {alice, theirs.Cert}, {another, theirs.Cert}} {
			for range 2 {
				u, err := certificates.User(chain, c.when)
				if (err == nil) != c.good || c.good && u.Name != "alice" {
					t.Errorf("%s: %q, %v", c.what, u.Name, err)
				}
			}
		}
	}
	if _, err := certificates.User(nil, now); !errors.Is(err, authentication.ErrNoCredentials) {
		t.Errorf("no certificate: %v", err)
	}
}

// TestAuthorityExpires: a client's certificate is accepted until its authority or an intermediate authority expires.
func TestAuthorityExpires(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	authority := func(by *apiservertest.Certified, name string, life time.Duration) apiservertest.Certified {
		return apiservertest.NewCertificate(t, by, &x509.Certificate{
			Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
			NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		})
	}
	for what, lives := range map[string][2]time.Duration{
		"authority": {2 * time.Second, time.Hour}, "between": {time.Hour, 2 * time.Second},
	} {
		root := authority(nil, "root", lives[0])
		between := authority(&root, "between", lives[1])
		client := apiservertest.NewCertificate(t, &between, &x509.Certificate{Subject: pkix.Name{CommonName: "alice"}})
		certificates := authentication.NewCertificates(authentication.PoolOf(root.Cert))
		for _, after := range []time.Duration{0, time.Second, 3 * time.Second} {
			_, err := certificates.User([]*x509.Certificate{client.Cert, between.Cert}, now.Add(after))
			if (err == nil) != (after < 2*time.Second) {
				t.Errorf("%s, after %v: %v", what, after, err)
			}
		}
	}
}

// TestCertificatesTogether: connections with equal and with different certificates are authenticated concurrently. Each
// gets the user of its own certificate.
func TestCertificatesTogether(t *testing.T) {
	ca := apiservertest.NewAuthority(t)
	certificates := authentication.NewCertificates(authentication.PoolOf(ca.Cert))
	now := time.Now()
	var all sync.WaitGroup
	for _, name := range []string{"alice", "bob"} {
		raw := apiservertest.NewCertificate(t, &ca, &x509.Certificate{Subject: pkix.Name{CommonName: name},
			NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}).Cert.Raw
		for range 4 {
			all.Go(func() {
				for range 50 {
					c, err := x509.ParseCertificate(raw)
					if err != nil {
						t.Error(err)
						return
					}
					for range 2 {
						if u, err := certificates.User([]*x509.Certificate{c}, now); err != nil || u.Name != name {
							t.Errorf("%q, %v, want %s", u.Name, err, name)
						}
					}
				}
			})
		}
	}
	all.Wait()
}
