package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// must returns a function that returns v, and fails the test on an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// requestOf returns a PKCS#10 request that is signed with a key, as kubelets make it.
func requestOf(t *testing.T, key any) []byte {
	t.Helper()
	return must[[]byte](t)(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key))
}

func elliptical(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	return must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(curve, rand.Reader))
}

// podCertificate returns a request with a PKCS#10 request.
func podCertificate(stub []byte) *certificatesv1.PodCertificateRequest {
	r := &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{
		SignerName: "example.com/s", PodName: "p", PodUID: "p-1", ServiceAccountName: "default", ServiceAccountUID: "s-1",
		NodeName: "n", NodeUID: "n-1", StubPKCS10Request: stub,
	}}
	defaultPodCertificate(r)
	return r
}

// messages returns the messages of errors.
func messages(errs field.ErrorList) (all []string) {
	for _, e := range errs {
		all = append(all, e.Error())
	}
	return all
}

// TestLongPodRequests: a request of more than 10 KiB is not parsed (V-079).
func TestLongPodRequests(t *testing.T) {
	want := []string{"spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"}
	if d := cmp.Diff(want, messages(validatePodCertificate(podCertificate(make([]byte, maxPodRequest+1))))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// issuer issues certificates for pods.
type issuer struct {
	t   *testing.T
	now time.Time
	key *ecdsa.PrivateKey
}

// pem returns the PEM block of a certificate. change may change the certificate before it is signed.
func (i *issuer) pem(key crypto.PublicKey, change func(*x509.Certificate)) string {
	i.t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: i.now, NotAfter: i.now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	if change != nil {
		change(c)
	}
	der := must[[]byte](i.t)(x509.CreateCertificate(rand.Reader, c, c, key, i.key))
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestPodCertificateStatus: a request is issued once. Its chain and its times agree (V-080).
func TestPodCertificateStatus(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	key := elliptical(t, elliptic.P256())
	i := &issuer{t: t, now: now, key: key}
	chain := i.pem(key.Public(), nil)
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }
	whole := func(chain string) certificatesv1.PodCertificateRequestStatus {
		return certificatesv1.PodCertificateRequestStatus{
			Conditions: []metav1.Condition{{
				Type: issued, Status: metav1.ConditionTrue, Reason: "r", LastTransitionTime: *at(0),
			}},
			CertificateChain: chain,
			NotBefore:        at(0), BeginRefreshAt: at(12 * time.Hour), NotAfter: at(24 * time.Hour),
		}
	}
	type status = certificatesv1.PodCertificateRequestStatus
	with := func(change func(*status)) status {
		s := whole(chain)
		change(&s)
		return s
	}
	shown := func(chain, why string) []string {
		return messages(field.ErrorList{field.Invalid(chainPath, chain, why)})
	}
	leaf := func(change func(*x509.Certificate)) string { return i.pem(key.Public(), change) }
	foreign := i.pem(elliptical(t, elliptic.P256()).Public(), nil)
	const immutable = "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"
	for name, c := range map[string]struct {
		old, now status
		want     []string
	}{
		"issued":            {now: whole(chain)},
		"with another":      {now: whole(chain + leaf(nil))},
		"issued, no change": {old: whole(chain), now: whole(chain)},
		"issued again":      {old: whole(chain), now: whole(leaf(nil)), want: []string{immutable}},
		"a key in the chain": {
			now: whole(chain + strings.ReplaceAll(chain, "CERTIFICATE", "PRIVATE KEY")), want: shown(
				chain+strings.ReplaceAll(chain, "CERTIFICATE", "PRIVATE KEY"), entirely("CERTFICATE")),
		},
		"no certificate in the chain": {
			now:  whole(chain + block("AAAA")),
			want: shown(chain+block("AAAA"), "intermediate certificate does not parse as valid X.509"),
		},
		"another key": {
			now: whole(foreign), want: shown(foreign, "leaf certificate was not issued to the requested public key"),
		},
		"names, before times": {
			now: whole(leaf(func(c *x509.Certificate) {
				c.NotAfter = now
				c.DNSNames, c.EmailAddresses = []string{"a..b", ".a"}, []string{"no-domain"}
			})),
			want: []string{
				`status.certificateChain: Invalid value: "a..b": leaf certificate's DNSName should not contain '..'`,
				`status.certificateChain: Invalid value: ".a": leaf certificate's DNSName should not start or end with '.'`,
				`status.certificateChain: Invalid value: "no-domain": ` +
					`leaf certificate should not contain invalid EmailAddress`,
			},
		},
		"no times": {
			now: with(func(s *status) { s.NotBefore, s.NotAfter, s.BeginRefreshAt = nil, nil, nil }), want: []string{
				"status.notBefore: Required value: must be present and consistent with the issued certificate",
				"status.notAfter: Required value: must be present and consistent with the issued certificate",
				"status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]",
			},
		},
		"another begin": {
			now: with(func(s *status) { s.NotBefore = at(time.Second) }), want: []string{"status.notBefore: " +
				"Invalid value: must be set to the NotBefore time encoded in the leaf certificate"},
		},
		"another end": {
			now: with(func(s *status) { s.NotAfter = at(time.Hour) }), want: []string{"status.notAfter: " +
				"Invalid value: must be set to the NotAfter time encoded in the leaf certificate"},
		},
		"from before": {
			now: func() status {
				s := whole(leaf(func(c *x509.Certificate) { c.NotBefore = now.Add(-clockSkew) }))
				s.NotBefore = at(-clockSkew)
				return s
			}(),
			want: []string{
				"status.notBefore: Invalid value: must be set to within 5 minutes of kube-apiserver's current time",
			},
		},
		"short": {
			now: func() status {
				s := whole(leaf(func(c *x509.Certificate) { c.NotAfter = now.Add(time.Minute) }))
				s.NotAfter = at(time.Minute)
				return s
			}(),
			want: []string{"status.certificateChain: Invalid value: leaf certificate lifetime must be >= 1 hour"},
		},
		"long": {
			now: func() status {
				s := whole(leaf(func(c *x509.Certificate) { c.NotAfter = now.Add(25 * time.Hour) }))
				s.NotAfter = at(25 * time.Hour)
				return s
			}(),
			want: []string{"status.certificateChain: Invalid value: " +
				"leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"},
		},
		"early": {
			now: with(func(s *status) { s.BeginRefreshAt = at(refreshMargin - time.Second) }), want: []string{
				"status.beginRefreshAt: Invalid value: must be at least 10 minutes after status.notBefore",
			},
		},
		"late": {
			now:  with(func(s *status) { s.BeginRefreshAt = at(24*time.Hour - refreshMargin + time.Second) }),
			want: []string{"status.beginRefreshAt: Invalid value: must be at least 10 minutes before status.notAfter"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := podCertificate(requestOf(t, key))
			old := r.DeepCopy()
			r.Status, old.Status = c.now, c.old
			errs := validatePodCertificateStatus(r, old, now)
			for _, e := range errs { // their format is that of field.Error
				switch e.BadValue.(type) {
				case time.Time, time.Duration:
					e.BadValue = field.OmitValueType{}
				}
			}
			if d := cmp.Diff(c.want, messages(errs)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func entirely(what string) string {
	return "issued certificate chain must consist entirely of " + what + " PEM blocks"
}

func block(text string) string {
	return "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n"
}

// TestPermitIssue: only a user who may sign for the signer can change the chain (V-080).
func TestPermitIssue(t *testing.T) {
	old := podCertificate(nil)
	now := old.DeepCopy()
	now.Status.CertificateChain = "c"
	for _, c := range []struct {
		may  string
		now  *certificatesv1.PodCertificateRequest
		want []string
	}{
		{"sign example.com/s", now, nil},
		{"sign example.com/*", now, nil},
		{"", old, nil},
		{"attest example.com/s", now, []string{
			`spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/s"`,
		}},
	} {
		errs := permitIssue(c.now, old, "ann", func(group, resource, verb, name string) bool {
			return group == certificatesv1.GroupName && resource == "signers" && verb+" "+name == c.may
		})
		if d := cmp.Diff(c.want, messages(errs)); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.may, d)
		}
	}
}
