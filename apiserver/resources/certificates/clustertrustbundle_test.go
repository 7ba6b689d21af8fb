package certificates

import (
	"crypto/elliptic"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
)

// TestTrustBundles: a bundle has only CA certificates, and no certificate twice (V-078).
func TestTrustBundles(t *testing.T) {
	key := elliptical(t, elliptic.P256())
	i := &issuer{t: t, now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), key: key}
	a, b := i.pem(key.Public(), nil), i.pem(key.Public(), nil)
	leaf := i.pem(key.Public(), func(c *x509.Certificate) { c.IsCA = false })
	bare := i.pem(key.Public(), func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = false, false })
	const at = `spec.trustBundle: Invalid value: "<value omitted>": `
	for name, c := range map[string]struct {
		bundle string
		want   []string
	}{
		"two":     {bundle: a + "between\n" + b},
		"nothing": {want: []string{at + "at least one trust anchor must be provided"}},
		"no PEM":  {bundle: "x", want: []string{at + "at least one trust anchor must be provided"}},
		"twice": {
			bundle: b + a + a + b + a,
			want:   []string{at + "duplicate trust anchor (indices [0 3])", at + "duplicate trust anchor (indices [1 2 4])"},
		},
		"others": {
			bundle: strings.ReplaceAll(a, "CERTIFICATE", "X509 CRL") +
				strings.Replace(a, "-----\n", "-----\nA: b\n\n", 1) + block("AAAA") + leaf + bare + a + a,
			want: []string{
				at + "entry 0 has bad block type: X509 CRL",
				at + "entry 1 has PEM block headers",
				at + "entry 2 does not parse as X.509",
				at + "entry 3 does not have the CA bit set",
				at + "entry 4 does not have the CA bit set",
			},
		},
		"long": {
			bundle: strings.Repeat("x", maxTrustBundle+1),
			want:   []string{"spec.trustBundle: Too long: may not be more than 1048576 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bundle := &certificatesv1.ClusterTrustBundle{Spec: certificatesv1.ClusterTrustBundleSpec{TrustBundle: c.bundle}}
			if d := cmp.Diff(c.want, messages(validateTrustBundle(bundle, nil))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if errs := validateTrustBundle(bundle, bundle.DeepCopy()); len(errs) > 0 {
				t.Errorf("a stored bundle: %v", errs)
			}
		})
	}
}

// TestBundleNames: the name of a bundle begins with the name of its signer (V-078).
func TestBundleNames(t *testing.T) {
	for _, c := range []struct{ signer, name, want string }{
		{"", "a.b", ""},
		{"", "a:b", `ClusterTrustBundle without signer name must not have ":" in its name`},
		{"", "A", "a lowercase RFC 1123 subdomain must consist of"},
		{"x.io/s", "x.io:s:a", ""},
		{"x.io/s", "x.io:s:A", "a lowercase RFC 1123 subdomain must consist of"},
		{"x.io/s", "x.io:s", "ClusterTrustBundle for signerName x.io/s must be named with prefix x.io:s:"},
		{"x.io/s", "a", "ClusterTrustBundle for signerName x.io/s must be named with prefix x.io:s:"},
	} {
		b := &certificatesv1.ClusterTrustBundle{Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: c.signer}}
		got := strings.Join(bundleName(b)(c.name, false), "; ")
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("signer %q, name %q: %q, want %q", c.signer, c.name, got, c.want)
		}
	}
}

// TestBundleSigners: the signer of a bundle has a domain and a path, and never changes (V-078).
func TestBundleSigners(t *testing.T) {
	bundle := func(signer string) *certificatesv1.ClusterTrustBundle {
		return &certificatesv1.ClusterTrustBundle{Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: signer}}
	}
	want := []string{
		`spec.signerName: Invalid value: "x": ` +
			"must be a fully qualified domain and path of the form 'example.com/signer-name'",
		`spec.signerName: Invalid value: "x": field is immutable`,
	}
	if d := cmp.Diff(want, messages(validateTrustBundle(bundle("x"), bundle("x.io/s")))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
