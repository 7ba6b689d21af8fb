package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// trustBundle validates a file with trust anchors of one bundle, or of a signer's (V-031).
func (p *projection) trustBundle(s *corev1.ClusterTrustBundleProjection, at *field.Path) (errs field.ErrorList) {
	switch {
	case s.Name != nil && s.SignerName != nil:
		errs = append(errs, field.Invalid(at, s, "only one of name and signerName may be used"))
	case s.Name != nil:
		errs = append(errs, check.Present(*s.Name != "", at.Child("name"), "must be a valid object name")...)
		for _, text := range check.TrustBundleName(*s.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), *s.Name,
				fmt.Sprintf("not a valid clustertrustbundlename: %v", text)))
		}
		if s.LabelSelector != nil {
			errs = append(errs, field.Invalid(at.Child("labelSelector"), s.LabelSelector,
				"labelSelector must be unset if name is specified"))
		}
	case s.SignerName != nil:
		if *s.SignerName == "" {
			errs = append(errs, field.Required(at.Child("signerName"), "must be a valid signer name"))
		}
		errs = append(errs, check.SignerName(*s.SignerName, at.Child("signerName"))...)
		errs = append(errs, ValidateSelector(s.LabelSelector, false, at.Child("labelSelector"))...)
	default:
		errs = append(errs, field.Required(at, "either name or signerName must be specified"))
	}
	errs = append(errs, check.Present(s.Path != "", at.Child("path"), "")...)
	errs = append(errs, ProjectedPath(s.Path, at.Child("path"))...)
	if s.Path == "" && p.seen[""] {
		errs = append(errs, field.Invalid(p.at, "", "conflicting duplicate paths"))
	}
	p.seen[""] = p.seen[""] || s.Path == ""
	return append(errs, p.put(s.Path, s.Path)...)
}

// keyTypes are the types of keys for which a pod may get a certificate.
var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

// The limits of the life of a pod's certificate in seconds.
const (
	leastCertificate      = 3600
	mostCertificate       = 91 * 24 * 3600
	kubernetesCertificate = 24 * 3600
)

// podCertificate validates the files of a key and its certificate (V-031).
func (p *projection) podCertificate(s *corev1.PodCertificateProjection, at *field.Path) field.ErrorList {
	errs := check.SignerName(s.SignerName, at.Child("signerName"))
	errs = append(errs, check.OneOf(s.KeyType, at.Child("keyType"), keyTypes)...)
	if n := s.MaxExpirationSeconds; n != nil {
		most := int32(mostCertificate)
		if check.OfKubernetes(s.SignerName) {
			most = kubernetesCertificate
		}
		const must = "if provided, maxExpirationSeconds must be "
		if *n < leastCertificate {
			errs = append(errs, field.Invalid(at.Child("maxExpirationSeconds"), *n, fmt.Sprintf(must+">= %d",
				leastCertificate)))
		}
		if *n > most {
			errs = append(errs, field.Invalid(at.Child("maxExpirationSeconds"), *n, fmt.Sprintf(must+"<= %d", most)))
		}
	}
	found := false
	for _, f := range []struct{ name, path string }{
		{"credentialBundlePath", s.CredentialBundlePath}, {"keyPath", s.KeyPath},
		{"certificateChainPath", s.CertificateChainPath},
	} {
		if f.path == "" {
			continue
		}
		found = true
		errs = append(errs, ProjectedPath(f.path, at.Child(f.name))...)
		errs = append(errs, p.put(f.path, f.path)...)
	}
	if !found {
		errs = append(errs, field.Required(at,
			"specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
	}
	return append(errs, check.UserAnnotations(s.UserAnnotations, at.Child("userAnnotations"))...)
}
