package certificates

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// authority is an authority that is valid for two years.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (a authority) Authority() *x509.Certificate { return a.cert }

func (a authority) Sign(c *x509.Certificate, key crypto.PublicKey) ([]byte, error) {
	return x509.CreateCertificate(rand.Reader, c, a.cert, key, a.key)
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(2 * longest),
		KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err == nil {
		c, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return authority{c, key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// request returns a request in PEM.
func request(t *testing.T, key crypto.Signer, r *x509.CertificateRequest) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, r, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// signed returns an approved request.
func signed(signer string, text []byte, usages ...certificatesv1.KeyUsage) *certificatesv1.CertificateSigningRequest {
	r := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "r"},
		Spec:       certificatesv1.CertificateSigningRequestSpec{SignerName: signer, Request: text, Usages: usages},
	}
	add(r, certificatesv1.CertificateApproved)
	return r
}

func add(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) {
	r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: t, Status: corev1.ConditionTrue})
}

func decideOn(o Options, r *certificatesv1.CertificateSigningRequest, at time.Time) workload.Plan {
	return Signing(o).Decide(workload.View{Key: workload.Key{Name: r.Name}, Object: r}, at)
}

const (
	client        = certificatesv1.KubeAPIServerClientSignerName
	kubeletClient = certificatesv1.KubeAPIServerClientKubeletSignerName
	serving       = certificatesv1.KubeletServingSignerName

	signature = certificatesv1.UsageDigitalSignature
	encipher  = certificatesv1.UsageKeyEncipherment
	asClient  = certificatesv1.UsageClientAuth
	asServer  = certificatesv1.UsageServerAuth
)

// TestSignersRejectInvalidRequests: what each signer requires, and the message of the condition Failed (signer_test.go:
// TestHandle, pkg/apis/certificates/helpers.go).
func TestSignersRejectInvalidRequests(t *testing.T) {
	key, ca := newKey(t), newAuthority(t)
	node := pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}
	uri := &url.URL{Scheme: "https", Host: "a"}
	for name, c := range map[string]struct {
		signer  string
		request x509.CertificateRequest
		usages  []certificatesv1.KeyUsage
		// wrong is the message; empty if the request is signed.
		wrong string
	}{
		"client": {client, x509.CertificateRequest{}, []certificatesv1.KeyUsage{asClient}, ""},
		"client, all usages": {client, x509.CertificateRequest{},
			[]certificatesv1.KeyUsage{asClient, encipher, signature}, ""},
		"client as server": {client, x509.CertificateRequest{}, []certificatesv1.KeyUsage{asClient, asServer},
			"invalid usage for client certificate: server auth"},
		"client without its usage": {client, x509.CertificateRequest{}, []certificatesv1.KeyUsage{signature},
			"missing required usage for client certificate: client auth"},
		"kubelet": {kubeletClient, x509.CertificateRequest{Subject: node},
			[]certificatesv1.KeyUsage{encipher, signature, asClient}, ""},
		"kubelet without RSA": {kubeletClient, x509.CertificateRequest{Subject: node},
			[]certificatesv1.KeyUsage{asClient, signature}, ""},
		"kubelet's organization": {kubeletClient, x509.CertificateRequest{Subject: pkix.Name{CommonName: node.CommonName,
			Organization: []string{"system:nodes", "b"}}}, nil, "subject organization is not system:nodes"},
		"kubelet's name": {kubeletClient, x509.CertificateRequest{Subject: pkix.Name{CommonName: "n",
			Organization: node.Organization}}, nil, "subject common name does not begin with system:node:"},
		"kubelet's DNS name": {kubeletClient, x509.CertificateRequest{Subject: node, DNSNames: []string{"a"}}, nil,
			"DNS subjectAltNames are not allowed"},
		"kubelet's email": {kubeletClient, x509.CertificateRequest{Subject: node, EmailAddresses: []string{"a@b"}}, nil,
			"Email subjectAltNames are not allowed"},
		"kubelet's IP": {kubeletClient, x509.CertificateRequest{Subject: node, IPAddresses: []net.IP{{1, 2, 3, 4}}}, nil,
			"IP subjectAltNames are not allowed"},
		"kubelet's URI": {kubeletClient, x509.CertificateRequest{Subject: node, URIs: []*url.URL{uri}}, nil,
			"URI subjectAltNames are not allowed"},
		"kubelet's usages": {kubeletClient, x509.CertificateRequest{Subject: node},
			[]certificatesv1.KeyUsage{asClient, signature, asServer},
			"usages did not match [client auth digital signature key encipherment]"},
		"serving": {serving, x509.CertificateRequest{Subject: node, DNSNames: []string{"a"},
			IPAddresses: []net.IP{{1, 2, 3, 4}}}, []certificatesv1.KeyUsage{asServer, signature, encipher}, ""},
		"serving by an address": {serving, x509.CertificateRequest{Subject: node, IPAddresses: []net.IP{{1, 2, 3, 4}}},
			[]certificatesv1.KeyUsage{asServer, signature}, ""},
		"serving nothing": {serving, x509.CertificateRequest{Subject: node}, nil, "DNS or IP subjectAltName is required"},
		"serving's email": {serving, x509.CertificateRequest{Subject: node, DNSNames: []string{"a"},
			EmailAddresses: []string{"a@b"}}, nil, "Email subjectAltNames are not allowed"},
		"serving's URI": {serving, x509.CertificateRequest{Subject: node, DNSNames: []string{"a"},
			URIs: []*url.URL{uri}}, nil, "URI subjectAltNames are not allowed"},
		"serving's organization": {serving, x509.CertificateRequest{DNSNames: []string{"a"}}, nil,
			"subject organization is not system:nodes"},
		"serving's usages": {serving, x509.CertificateRequest{Subject: node, DNSNames: []string{"a"}},
			[]certificatesv1.KeyUsage{asServer}, "usages did not match [digital signature key encipherment server auth]"},
		"serving's name": {serving, x509.CertificateRequest{DNSNames: []string{"a"}, Subject: pkix.Name{CommonName: "n",
			Organization: node.Organization}}, []certificatesv1.KeyUsage{asServer, signature},
			"subject common name does not begin with system:node:"},
		"legacy": {"kubernetes.io/legacy-unknown", x509.CertificateRequest{}, []certificatesv1.KeyUsage{
			certificatesv1.UsageCodeSigning}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := signed(c.signer, request(t, key, &c.request), c.usages...)
			plan := decideOn(Options{Authority: ca}, r, now)
			next, _ := plan.Status.(*certificatesv1.CertificateSigningRequest)
			switch {
			case next == nil:
				t.Fatalf("plan %+v", plan)
			case c.wrong == "":
				if len(next.Status.Certificate) == 0 || len(next.Status.Conditions) != 1 {
					t.Errorf("status %+v", next.Status)
				}
				return
			case len(next.Status.Certificate) > 0 || len(next.Status.Conditions) != 2:
				t.Fatalf("status %+v", next.Status)
			}
			want := certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateFailed,
				Status: corev1.ConditionTrue, Reason: "SignerValidationFailure", Message: c.wrong,
				LastUpdateTime: metav1.NewTime(now)}
			if got := next.Status.Conditions[1]; got != want {
				t.Errorf("condition %+v, want %+v", got, want)
			}
			if again := decideOn(Options{Authority: ca}, next, now); again.Status != nil {
				t.Errorf("it fails twice: %+v", again.Status)
			}
		})
	}
}

// TestRequestsForOtherSignersAreIgnored: requests that no signer works on.
func TestRequestsForOtherSignersAreIgnored(t *testing.T) {
	text := request(t, newKey(t), &x509.CertificateRequest{})
	for name, change := range map[string]func(*certificatesv1.CertificateSigningRequest){
		"pending": func(r *certificatesv1.CertificateSigningRequest) { r.Status.Conditions = nil },
		"denied too": func(r *certificatesv1.CertificateSigningRequest) {
			add(r, certificatesv1.CertificateDenied)
		},
		"failed": func(r *certificatesv1.CertificateSigningRequest) {
			add(r, certificatesv1.CertificateFailed)
		},
		"issued":         func(r *certificatesv1.CertificateSigningRequest) { r.Status.Certificate = []byte("x") },
		"another signer": func(r *certificatesv1.CertificateSigningRequest) { r.Spec.SignerName = "example.com/mine" },
		"unknown signer of kubernetes.io": func(r *certificatesv1.CertificateSigningRequest) {
			r.Spec.SignerName = "kubernetes.io/mine"
		},
	} {
		r := signed(client, text, asClient)
		change(r)
		if plan := decideOn(Options{Authority: newAuthority(t)}, r, now); plan.Status != nil || plan.Again != 0 {
			t.Errorf("%s: %+v", name, plan)
		}
	}
}

// TestCertificate: subject, names and usages are those of the request, extensions are not (authority_test.go).
func TestCertificate(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca := newAuthority(t)
	r := signed("kubernetes.io/legacy-unknown", request(t, key, &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "jane", Organization: []string{"b", "a"}, Country: []string{"DE"}},
		DNSNames: []string{"d"}, IPAddresses: []net.IP{{1, 2, 3, 4}}, EmailAddresses: []string{"a@b"},
		URIs: []*url.URL{{Scheme: "https", Host: "u"}},
		ExtraExtensions: []pkix.Extension{{Id: []int{2, 5, 29, 19}, Critical: true, // an authority, it says
			Value: []byte{0x30, 3, 1, 1, 0xff}}},
	}), asServer, asClient, signature, encipher, certificatesv1.UsageSMIME, certificatesv1.UsageEmailProtection)
	next, _ := decideOn(Options{Authority: ca}, r, now).Status.(*certificatesv1.CertificateSigningRequest)
	if next == nil {
		t.Fatal("it is not signed")
	}
	block, rest := pem.Decode(next.Status.Certificate)
	if block == nil || block.Type != "CERTIFICATE" || len(rest) > 0 {
		t.Fatalf("certificate %q", next.Status.Certificate)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckSignatureFrom(ca.cert); err != nil {
		t.Error(err)
	}
	if got := c.Subject.String(); got != "CN=jane,O=a+O=b,C=DE" {
		t.Errorf("subject %s", got)
	}
	if !slices.Equal(c.DNSNames, []string{"d"}) || len(c.IPAddresses) != 1 || len(c.EmailAddresses) != 1 ||
		len(c.URIs) != 1 {
		t.Errorf("names %v %v %v %v", c.DNSNames, c.IPAddresses, c.EmailAddresses, c.URIs)
	}
	if c.KeyUsage != x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment || !slices.Equal(c.ExtKeyUsage,
		[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageEmailProtection}) {
		t.Errorf("usages %v %v", c.KeyUsage, c.ExtKeyUsage)
	}
	if c.IsCA || !c.BasicConstraintsValid || !key.PublicKey.Equal(c.PublicKey) {
		t.Errorf("an authority: %v, basic constraints: %v", c.IsCA, c.BasicConstraintsValid)
	}
}

// TestDurationOfCertificatesIsLimited (signer_test.go: TestSign, Test_signer_duration; policies_test.go).
func TestDurationOfCertificatesIsLimited(t *testing.T) {
	ca, text := newAuthority(t), request(t, newKey(t), &x509.CertificateRequest{})
	seconds := func(d time.Duration) *int32 { n := int32(d / time.Second); return &n }
	for name, c := range map[string]struct {
		asked    *int32
		at       time.Time
		from, to time.Time
	}{
		"default":     {nil, now, now.Add(-backdate), now.Add(longest - backdate)},
		"longer":      {seconds(2 * longest), now, now.Add(-backdate), now.Add(longest - backdate)},
		"eight hours": {seconds(short), now, now.Add(-backdate), now.Add(short - backdate)},
		"short":       {seconds(short - time.Second), now, now.Add(-backdate), now.Add(short - time.Second)},
		"too short":   {seconds(time.Minute), now, now.Add(-backdate), now.Add(10 * time.Minute)},
		"authority ends": {nil, now.Add(2*longest - time.Hour), now.Add(2*longest - time.Hour - backdate),
			now.Add(2 * longest)},
	} {
		r := signed(client, text, asClient)
		r.Spec.ExpirationSeconds = c.asked
		next, _ := decideOn(Options{Authority: ca}, r, c.at).Status.(*certificatesv1.CertificateSigningRequest)
		if next == nil {
			t.Errorf("%s: it is not signed", name)
			continue
		}
		block, _ := pem.Decode(next.Status.Certificate)
		got, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !got.NotBefore.Equal(c.from) || !got.NotAfter.Equal(c.to) {
			t.Errorf("%s: from %v to %v, want %v to %v", name, got.NotBefore, got.NotAfter, c.from, c.to)
		}
	}
}

// TestFailedSigningIsRepeated: what can't be signed now is tried again, and the log says why.
func TestFailedSigningIsRepeated(t *testing.T) {
	ca, text := newAuthority(t), request(t, newKey(t), &x509.CertificateRequest{})
	var log bytes.Buffer
	o := Options{Authority: ca, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for want, decide := range map[string]func() workload.Plan{
		"the certificate authority has expired": func() workload.Plan {
			return decideOn(o, signed(client, text, asClient), now.Add(2*longest))
		},
		"no PEM block of the type CERTIFICATE REQUEST": func() workload.Plan {
			return decideOn(o, signed(client, []byte("x"), asClient), now)
		},
	} {
		log.Reset()
		if plan := decide(); plan.Status != nil || plan.Again != time.Minute || !strings.Contains(log.String(), want) {
			t.Errorf("plan %+v, want %q in the log: %s", plan, want, &log)
		}
	}
}
