package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// The limits of K pkg/apis/certificates/types.go.
const (
	dayOfSeconds  int32 = 86400
	minSeconds    int32 = 3600
	maxSeconds    int32 = 91 * dayOfSeconds
	maxPodRequest       = 10 << 10
	maxChain            = 100 << 10
	maxUID              = 128
	clockSkew           = 5 * time.Minute
	refreshMargin       = 10 * time.Minute
)

var (
	stubPath     = field.NewPath("spec", "stubPKCS10Request")
	chainPath    = field.NewPath("status", "certificateChain")
	beforePath   = field.NewPath("status", "notBefore")
	afterPath    = field.NewPath("status", "notAfter")
	refreshPath  = field.NewPath("status", "beginRefreshAt")
	outcomesPath = field.NewPath("status", "conditions")
)

// validatePodCertificate implements V-079.
func validatePodCertificate(r *certificatesv1.PodCertificateRequest) field.ErrorList {
	at, s := field.NewPath("spec"), &r.Spec
	errs := check.SignerName(s.SignerName, at.Child("signerName"))
	errs = append(errs, check.UserAnnotations(s.UnverifiedUserAnnotations, at.Child("unverifiedUserAnnotations"))...)
	errs = append(errs, check.DNSSubdomain(s.PodName, at.Child("podName"))...)
	errs = append(errs, uidOf(s.PodUID, at.Child("podUID"))...)
	errs = append(errs, check.DNSSubdomain(s.ServiceAccountName, at.Child("serviceAccountName"))...)
	errs = append(errs, uidOf(s.ServiceAccountUID, at.Child("serviceAccountUID"))...)
	errs = append(errs, check.DNSSubdomain(string(s.NodeName), at.Child("nodeName"))...)
	errs = append(errs, uidOf(s.NodeUID, at.Child("nodeUID"))...)

	seconds, most := s.MaxExpirationSeconds, maxSeconds
	if seconds == nil {
		return append(errs, field.Required(at.Child("maxExpirationSeconds"), "must be set"))
	}
	if check.OfKubernetes(s.SignerName) {
		most = dayOfSeconds
	}
	errs = append(errs, check.Reject(*seconds < minSeconds || *seconds > most, at.Child("maxExpirationSeconds"),
		seconds, fmt.Sprintf("must be in the range [%d, %d]", minSeconds, most))...)
	return append(errs, podRequest(s.StubPKCS10Request)...)
}

func uidOf[T ~string](uid T, at *field.Path) field.ErrorList {
	return append(check.Reject(uid == "", at, uid, "must not be empty"), check.MaxBytes(len(uid), maxUID, at)...)
}

// podRequest requires a PKCS#10 request that is signed with its own key, of one of the supported types. The messages
// for requests that can't be parsed or verified are this server's.
func podRequest(der []byte) field.ErrorList {
	if len(der) == 0 {
		return field.ErrorList{field.Required(stubPath, "")}
	}
	if len(der) > maxPodRequest {
		return field.ErrorList{field.TooLong(stubPath, "", maxPodRequest)}
	}
	omitted := field.OmitValueType{}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return field.ErrorList{field.Invalid(stubPath, omitted, "must be a valid PKCS#10 certificate signing request")}
	}
	if err := keyType(request.PublicKey); err != nil {
		return field.ErrorList{err}
	}
	return check.Reject(request.CheckSignature() != nil, stubPath, omitted,
		"could not verify the signature of the request")
}

func keyType(key any) *field.Error {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if c := key.Curve; c != elliptic.P256() && c != elliptic.P384() && c != elliptic.P521() {
			return field.Invalid(
				stubPath, "curve "+c.Params().Name, "elliptic public keys must use curve P256 or P384",
			)
		}
		return nil
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return field.Invalid(
				stubPath, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096",
			)
		}
		return nil
	}
	return field.Invalid(
		stubPath, field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA",
	)
}

func validatePodCertificateUpdate(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	return check.Immutable(r.Spec, old.Spec, field.NewPath("spec"))
}

// validatePodCertificateStatus implements V-080: a request ends once, and its status changes at no other time.
func validatePodCertificateStatus(r, old *certificatesv1.PodCertificateRequest, now time.Time) field.ErrorList {
	if errs := outcomeConditions(r.Status.Conditions); len(errs) > 0 {
		return errs
	}
	s := &r.Status
	switch {
	case outcomeOf(old) != "":
		return sameStatus(*s, old.Status, "immutable after PodCertificateRequest is issued, denied, or failed")
	case outcomeOf(r) == issued:
		return issuedStatus(r, old, now)
	case outcomeOf(r) != "":
		return sameStatus(*s, certificatesv1.PodCertificateRequestStatus{Conditions: s.Conditions},
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	}
	return sameStatus(*s, old.Status, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
}

// outcomeOf returns the type of the condition with which a request ended, or an empty string if it has not ended.
func outcomeOf(r *certificatesv1.PodCertificateRequest) string {
	for _, c := range r.Status.Conditions {
		if c.Status == metav1.ConditionTrue && slices.Contains(outcomes, c.Type) {
			return c.Type
		}
	}
	return ""
}

func sameStatus(is, want certificatesv1.PodCertificateRequestStatus, why string) field.ErrorList {
	return check.Reject(!apiequality.Semantic.DeepEqual(is, want), field.NewPath("status"), field.OmitValueType{}, why)
}

// outcomeConditions allows one condition that ends a request, and no others. The paths have a dot before the index, as
// upstream's.
func outcomeConditions(list []metav1.Condition) (errs field.ErrorList) {
	known := 0
	for i, c := range list {
		at := field.NewPath("status", "conditions", fmt.Sprintf("[%d]", i))
		if !slices.Contains(outcomes, c.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), c.Type, outcomes))
			continue
		}
		if known++; known > 1 {
			errs = append(errs, field.Invalid(at.Child("type"), c.Type,
				`There may be at most one condition with type "Issued", "Denied", or "Failed"`))
		}
		if c.Status != metav1.ConditionTrue {
			errs = append(errs, field.NotSupported(at.Child("status"), c.Status,
				[]metav1.ConditionStatus{metav1.ConditionTrue}))
		}
	}
	return append(errs, v1validation.ValidateConditions(list, outcomesPath)...)
}

// issuedStatus validates an issued chain. The first certificate is the pod's; the others need only be certificates.
func issuedStatus(r, old *certificatesv1.PodCertificateRequest, now time.Time) field.ErrorList {
	chain := r.Status.CertificateChain
	if len(chain) > maxChain {
		return field.ErrorList{field.TooLong(chainPath, "", maxChain)}
	}
	wrong := func(why string) field.ErrorList { return field.ErrorList{field.Invalid(chainPath, chain, why)} }
	block, rest := pem.Decode([]byte(chain))
	switch {
	case block == nil:
		return wrong("issued certificate chain must contain at least one certificate")
	case block.Type != "CERTIFICATE":
		return wrong("issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return wrong("leaf certificate does not parse as valid X.509")
	}
	errs := alternativeNames(leaf)
	request, err := x509.ParseCertificateRequest(old.Spec.StubPKCS10Request)
	if err != nil {
		return append(errs, podRequest(old.Spec.StubPKCS10Request)...)
	}
	if key, ok := request.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !key.Equal(leaf.PublicKey) {
		return append(errs, wrong("leaf certificate was not issued to the requested public key")...)
	}
	if errs = append(errs, times(&r.Status)...); len(errs) == 0 {
		errs = lifetime(r, leaf, now)
	}
	if len(errs) > 0 {
		return errs
	}
	for block, rest = pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return wrong("issued certificate chain must consist entirely of CERTFICATE PEM blocks") // upstream's typo
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return wrong("intermediate certificate does not parse as valid X.509")
		}
	}
	return nil
}

// alternativeNames requires names that parsers other than Go's accept.
func alternativeNames(leaf *x509.Certificate) (errs field.ErrorList) {
	for _, name := range leaf.DNSNames {
		errs = append(errs, check.Reject(name == "", chainPath, name,
			"leaf certificate should not contain empty DNSName")...)
		errs = append(errs, check.Reject(strings.Contains(name, ".."), chainPath, name,
			"leaf certificate's DNSName should not contain '..'")...)
		errs = append(errs, check.Reject(strings.HasPrefix(name, ".") || strings.HasSuffix(name, "."), chainPath, name,
			"leaf certificate's DNSName should not start or end with '.'")...)
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			errs = append(errs, field.Invalid(chainPath, address,
				"leaf certificate should not contain invalid EmailAddress"))
		}
	}
	return errs
}

func times(s *certificatesv1.PodCertificateRequestStatus) field.ErrorList {
	const present = "must be present and consistent with the issued certificate"
	errs := check.Present(s.NotBefore != nil, beforePath, present)
	errs = append(errs, check.Present(s.NotAfter != nil, afterPath, present)...)
	return append(errs, check.Present(s.BeginRefreshAt != nil, refreshPath,
		"must be present and in the range [notbefore+10min, notafter-10min]")...)
}

// lifetime compares the times of the status with those of the pod's certificate, and with the clock. It returns only
// the first error.
func lifetime(r *certificatesv1.PodCertificateRequest, leaf *x509.Certificate, now time.Time) field.ErrorList {
	s := &r.Status
	before, after, refresh := s.NotBefore.Time, s.NotAfter.Time, s.BeginRefreshAt.Time
	took, most := leaf.NotAfter.Sub(leaf.NotBefore), *r.Spec.MaxExpirationSeconds
	wrong := func(at *field.Path, value any, why string) field.ErrorList {
		return field.ErrorList{field.Invalid(at, value, why)}
	}
	switch {
	case !before.Equal(leaf.NotBefore):
		return wrong(beforePath, before, "must be set to the NotBefore time encoded in the leaf certificate")
	case !before.After(now.Add(-clockSkew)) || !before.Before(now.Add(clockSkew)):
		return wrong(beforePath, before, "must be set to within 5 minutes of kube-apiserver's current time")
	case !after.Equal(leaf.NotAfter):
		return wrong(afterPath, after, "must be set to the NotAfter time encoded in the leaf certificate")
	case took < time.Hour:
		return wrong(chainPath, took, "leaf certificate lifetime must be >= 1 hour")
	case took > time.Duration(most)*time.Second:
		return wrong(
			chainPath, took, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", most),
		)
	case refresh.Before(before.Add(refreshMargin)):
		return wrong(refreshPath, refresh, "must be at least 10 minutes after status.notBefore")
	case refresh.After(after.Add(-refreshMargin)):
		return wrong(refreshPath, refresh, "must be at least 10 minutes before status.notAfter")
	}
	return nil
}
