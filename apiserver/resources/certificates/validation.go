package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const legacySigner = "kubernetes.io/legacy-unknown"

var keyUsages = check.Set(
	certificatesv1.UsageSigning, certificatesv1.UsageDigitalSignature, certificatesv1.UsageContentCommitment,
	certificatesv1.UsageKeyEncipherment, certificatesv1.UsageKeyAgreement, certificatesv1.UsageDataEncipherment,
	certificatesv1.UsageCertSign, certificatesv1.UsageCRLSign, certificatesv1.UsageEncipherOnly,
	certificatesv1.UsageDecipherOnly, certificatesv1.UsageAny, certificatesv1.UsageServerAuth,
	certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning, certificatesv1.UsageEmailProtection,
	certificatesv1.UsageSMIME, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
	certificatesv1.UsageIPsecUser, certificatesv1.UsageTimestamping, certificatesv1.UsageOCSPSigning,
	certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC)

var (
	anyStatus = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
	onlyTrue  = []corev1.ConditionStatus{corev1.ConditionTrue}
	approvals = []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied,
	}
	lastingCSRs = append(slices.Clone(approvals), certificatesv1.CertificateFailed)
)

// csrTolerance reports which invalid values of the old object an update may keep.
type csrTolerance struct {
	unknownUsages, twiceUsages, legacySigner, emptyType, twiceTypes, certificate bool
}

func csrToleranceOf(r, old *certificatesv1.CertificateSigningRequest) (t csrTolerance) {
	usages, types := map[certificatesv1.KeyUsage]bool{}, map[certificatesv1.RequestConditionType]bool{}
	for _, u := range old.Spec.Usages {
		t.unknownUsages = t.unknownUsages || !keyUsages[u]
		t.twiceUsages = t.twiceUsages || usages[u]
		usages[u] = true
	}
	for _, c := range old.Status.Conditions {
		t.emptyType = t.emptyType || c.Type == ""
		t.twiceTypes = t.twiceTypes || types[c.Type]
		types[c.Type] = true
	}
	t.legacySigner = old.Spec.SignerName == legacySigner
	t.certificate = bytes.Equal(r.Status.Certificate, old.Status.Certificate) || certificate(old.Status.Certificate) != nil
	return t
}

func signingRequestOver(r *certificatesv1.CertificateSigningRequest, t csrTolerance) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &r.Spec
	request, err := ParseRequest(s.Request)
	if err == nil {
		err = request.CheckSignature() // it is signed with its own key
	}
	if err != nil {
		errs = append(errs, field.Invalid(at.Child("request"), s.Request, err.Error()))
	}
	usages := at.Child("usages")
	errs = append(errs, check.Present(len(s.Usages) > 0, usages, "")...)
	if !t.unknownUsages {
		errs = append(errs, check.All(s.Usages, usages, check.Among(check.Sorted(keyUsages)...))...)
	}
	if !t.twiceUsages {
		errs = append(errs, check.All(s.Usages, usages, check.Unique[certificatesv1.KeyUsage]{}.Add)...)
	}
	if !t.legacySigner && s.SignerName == legacySigner {
		errs = append(errs, field.Invalid(at.Child("signerName"), s.SignerName,
			"the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, check.SignerName(s.SignerName, at.Child("signerName"))...)
	}
	errs = append(errs, check.Reject(s.ExpirationSeconds != nil && *s.ExpirationSeconds < 600,
		at.Child("expirationSeconds"), s.ExpirationSeconds,
		"may not specify a duration less than 600 seconds (10 minutes)")...)
	errs = append(errs, csrConditions(r.Status.Conditions, t, field.NewPath("status", "conditions"))...)
	if !t.certificate {
		if err := certificate(r.Status.Certificate); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

// ParseRequest parses a PEM block with a certificate request (K pkg/apis/certificates: ParseCSR).
func ParseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// certificate accepts an empty text, and PEM blocks that all have certificates. It returns an error for other texts.
func certificate(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	found := false
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		certs, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certs) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		found, text = true, rest
	}
	if !found {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

func csrConditions(
	list []certificatesv1.CertificateSigningRequestCondition, t csrTolerance, at *field.Path,
) (errs field.ErrorList) {
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range list {
		here := at.Index(i)
		errs = append(errs, check.Present(c.Type != "" || t.emptyType, here.Child("type"), "")...)
		states := anyStatus
		if slices.Contains(lastingCSRs, c.Type) {
			states = onlyTrue
		}
		errs = append(errs, check.Required(c.Status, here.Child("status"), states)...)
		again := seen[c.Type]
		seen[c.Type] = true
		if again && !t.twiceTypes {
			errs = append(errs, field.Duplicate(here.Child("type"), c.Type))
		}
	}
	return errs
}

func validateSigningRequest(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	if old == nil {
		return signingRequestOver(r, csrTolerance{})
	}
	return slices.Concat(signingRequestKept(r, old), approvalKept(r, old), certificateKept(r, old, false))
}

// validateSigningRequestStatus allows a certificate to be set once.
func validateSigningRequestStatus(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return slices.Concat(signingRequestKept(r, old), approvalKept(r, old), certificateKept(r, old, true))
}

// validateSigningRequestApproval allows Approved and Denied conditions to be added.
func validateSigningRequestApproval(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return append(signingRequestKept(r, old), certificateKept(r, old, false)...)
}

// signingRequestKept validates the new request and rejects the removal of an approval or denial.
func signingRequestKept(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	errs := signingRequestOver(r, csrToleranceOf(r, old))
	for _, t := range lastingCSRs {
		errs = append(errs, check.Forbid(len(conditionsOf(r, t)) < len(conditionsOf(old, t)), outcomesPath,
			fmt.Sprintf("updates may not remove a condition of type %q", t))...)
	}
	return errs
}

func approvalKept(r, old *certificatesv1.CertificateSigningRequest) (errs field.ErrorList) {
	at := field.NewPath("status", "conditions")
	for _, t := range approvals {
		now, was := conditionsOf(r, t), conditionsOf(old, t)
		switch {
		case len(now) > len(was):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("updates may not add a condition of type %q", t)))
		case len(now) == len(was) && !apiequality.Semantic.DeepEqual(was, now):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("updates may not modify a condition of type %q\n%v", t,
				check.Difference(was, now))))
		}
	}
	return errs
}

func conditionsOf(
	r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType,
) []*certificatesv1.CertificateSigningRequestCondition {
	type condition = certificatesv1.CertificateSigningRequestCondition
	return ofType(r.Status.Conditions, func(c *condition) certificatesv1.RequestConditionType { return c.Type }, t)
}

func certificateKept(r, old *certificatesv1.CertificateSigningRequest, once bool) field.ErrorList {
	at := field.NewPath("status", "certificate")
	switch {
	case bytes.Equal(r.Status.Certificate, old.Status.Certificate):
		return nil
	case !once:
		return field.ErrorList{field.Forbidden(at, "updates may not set certificate content")}
	}
	return check.Forbid(len(old.Status.Certificate) > 0, at, "updates may not modify existing certificate content")
}

// MaySignFor reports whether a user has the verb for the signer, or for all signers of its domain (K
// pkg/certauthorization: IsAuthorizedForSignerName).
func MaySignFor(may entry.May, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	return slices.ContainsFunc([]string{signer, domain + "/*"}, func(name string) bool {
		return may(certificatesv1.GroupName, "signers", verb, name)
	})
}
