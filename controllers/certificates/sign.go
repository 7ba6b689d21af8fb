package certificates

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Authority is a certificate authority. Its methods may be called from any goroutine.
type Authority interface {
	// Authority returns its own certificate.
	Authority() *x509.Certificate
	// Sign signs a certificate for a public key, and returns it in DER. Without a serial number it gets a random one.
	Sign(c *x509.Certificate, key crypto.PublicKey) ([]byte, error)
}

// Options are the options of Signing.
type Options struct {
	Authority Authority
	// Log receives the reasons why certificates could not be signed.
	Log *slog.Logger
}

// Signing returns certificatesigningrequest-signing-controller. It records no events, like upstream's.
func Signing(o Options) workload.Controller {
	return workload.Controller{
		Name: "csrsigning", For: workload.CertificateSigningRequests, Decide: workload.Present(o.decide),
		Awaits: "another attempt to sign",
	}
}

// Times of certificates (signer.go: sign, duration; pkg/controller/certificates/signer/config/v1alpha1/defaults.go).
const (
	// longest is --cluster-signing-duration.
	longest  = 365 * 24 * time.Hour
	shortest = 10 * time.Minute
	// A certificate is valid from the time backdate before its signature, as clocks differ. A certificate with a
	// duration below short still gets that full duration from its signature on.
	backdate = 5 * time.Minute
	short    = 8 * time.Hour
	// retry is the time until a certificate that could not be signed is tried again.
	retry = time.Minute
)

// decide signs a request, or reports why it fails (signer.go: handle).
func (o Options) decide(
	v workload.View, r *certificatesv1.CertificateSigningRequest, now time.Time,
) (plan workload.Plan) {
	if v.Failed != nil || len(r.Status.Certificate) > 0 || !approved(r) || failed(r) {
		return plan
	}
	check := signers[r.Spec.SignerName]
	if check == nil {
		return plan
	}
	request, err := parse(r.Spec.Request)
	next := r.DeepCopy()
	if err == nil {
		if wrong := check(request, r.Spec.Usages); wrong != nil {
			next.Status.Conditions = append(next.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
				Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "SignerValidationFailure",
				Message: wrong.Error(), LastUpdateTime: metav1.NewTime(now)})
			return workload.Plan{Status: next}
		}
		next.Status.Certificate, err = o.sign(request, &r.Spec, now)
	}
	if err != nil {
		o.Log.Warn("failed to sign a certificate", "certificatesigningrequest", r.Name, "err", err)
		return workload.Plan{Again: retry}
	}
	return workload.Plan{Status: next}
}

// approved reports whether the request is approved and not denied (certificate_controller_utils.go:
// IsCertificateRequestApproved).
func approved(r *certificatesv1.CertificateSigningRequest) bool {
	return has(r, certificatesv1.CertificateApproved) && !has(r, certificatesv1.CertificateDenied)
}

func has(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == t
	})
}

// failed reports whether a signer has given up (certificate_controller_utils.go: HasTrueCondition).
func failed(r *certificatesv1.CertificateSigningRequest) bool {
	return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateFailed && (c.Status == "" || c.Status == corev1.ConditionTrue)
	})
}

// parse parses the request in its PEM block, and verifies that it is signed with its own key (authority.go: Sign).
func parse(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("decoding the request: it is no PEM block of the type CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("decoding the request: %w", err)
	}
	return request, nil
}

// sign makes the certificate in PEM (authority.go: Sign; policies.go: PermissiveSigningPolicy).
func (o Options) sign(
	request *x509.CertificateRequest, spec *certificatesv1.CertificateSigningRequestSpec, now time.Time,
) ([]byte, error) {
	c := &x509.Certificate{
		Subject: request.Subject, DNSNames: request.DNSNames, IPAddresses: request.IPAddresses,
		EmailAddresses: request.EmailAddresses, URIs: request.URIs, BasicConstraintsValid: true,
	}
	c.KeyUsage, c.ExtKeyUsage = usages(spec.Usages)
	life := longest
	if s := spec.ExpirationSeconds; s != nil {
		life = min(longest, max(shortest, time.Duration(*s)*time.Second))
	}
	c.NotBefore, c.NotAfter = now.Add(-backdate), now.Add(life)
	if life >= short {
		c.NotAfter = now.Add(life - backdate)
	}
	end := o.Authority.Authority().NotAfter
	if !now.Before(end) {
		return nil, fmt.Errorf("the certificate authority has expired: %v", end)
	}
	if end.Before(c.NotAfter) {
		c.NotAfter = end
	}
	der, err := o.Authority.Sign(c, request.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// The bits and extended usages of the API's usages (policies.go: keyUsageDict, extKeyUsageDict).
var (
	bits = map[certificatesv1.KeyUsage]x509.KeyUsage{
		certificatesv1.UsageSigning:           x509.KeyUsageDigitalSignature,
		certificatesv1.UsageDigitalSignature:  x509.KeyUsageDigitalSignature,
		certificatesv1.UsageContentCommitment: x509.KeyUsageContentCommitment,
		certificatesv1.UsageKeyEncipherment:   x509.KeyUsageKeyEncipherment,
		certificatesv1.UsageKeyAgreement:      x509.KeyUsageKeyAgreement,
		certificatesv1.UsageDataEncipherment:  x509.KeyUsageDataEncipherment,
		certificatesv1.UsageCertSign:          x509.KeyUsageCertSign,
		certificatesv1.UsageCRLSign:           x509.KeyUsageCRLSign,
		certificatesv1.UsageEncipherOnly:      x509.KeyUsageEncipherOnly,
		certificatesv1.UsageDecipherOnly:      x509.KeyUsageDecipherOnly,
	}
	extended = map[certificatesv1.KeyUsage]x509.ExtKeyUsage{
		certificatesv1.UsageAny:             x509.ExtKeyUsageAny,
		certificatesv1.UsageServerAuth:      x509.ExtKeyUsageServerAuth,
		certificatesv1.UsageClientAuth:      x509.ExtKeyUsageClientAuth,
		certificatesv1.UsageCodeSigning:     x509.ExtKeyUsageCodeSigning,
		certificatesv1.UsageEmailProtection: x509.ExtKeyUsageEmailProtection,
		certificatesv1.UsageSMIME:           x509.ExtKeyUsageEmailProtection,
		certificatesv1.UsageIPsecEndSystem:  x509.ExtKeyUsageIPSECEndSystem,
		certificatesv1.UsageIPsecTunnel:     x509.ExtKeyUsageIPSECTunnel,
		certificatesv1.UsageIPsecUser:       x509.ExtKeyUsageIPSECUser,
		certificatesv1.UsageTimestamping:    x509.ExtKeyUsageTimeStamping,
		certificatesv1.UsageOCSPSigning:     x509.ExtKeyUsageOCSPSigning,
		certificatesv1.UsageMicrosoftSGC:    x509.ExtKeyUsageMicrosoftServerGatedCrypto,
		certificatesv1.UsageNetscapeSGC:     x509.ExtKeyUsageNetscapeServerGatedCrypto,
	}
)

// usages converts the API's usages; validation accepts no others.
func usages(list []certificatesv1.KeyUsage) (all x509.KeyUsage, more []x509.ExtKeyUsage) {
	found := map[x509.ExtKeyUsage]bool{}
	for _, u := range list {
		all |= bits[u]
		if e, ok := extended[u]; ok {
			found[e] = true
		}
	}
	return all, slices.Sorted(maps.Keys(found))
}
