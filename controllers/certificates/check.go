package certificates

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// signers has the checks of a request by each signer (signer.go: getCSRVerificationFuncForSignerName).
var signers = map[string]func(*x509.CertificateRequest, []certificatesv1.KeyUsage) error{
	certificatesv1.KubeAPIServerClientSignerName:        checkClient,
	certificatesv1.KubeAPIServerClientKubeletSignerName: checkKubeletClient,
	certificatesv1.KubeletServingSignerName:             checkKubeletServing,
	"kubernetes.io/legacy-unknown":                      checkName,
}

// checkName rejects the name of the certificate with which this server authenticates to extension API servers as a
// proxy, because the same authority signs that certificate. It accepts all other requests.
func checkName(r *x509.CertificateRequest, _ []certificatesv1.KeyUsage) error {
	if r.Subject.CommonName == "front-proxy-client" {
		return errors.New("the common name front-proxy-client is that of the server")
	}
	return nil
}

// checkClient requires usages of clients (validAPIServerClientUsages).
func checkClient(r *x509.CertificateRequest, list []certificatesv1.KeyUsage) error {
	if err := checkName(r, list); err != nil {
		return err
	}
	for _, u := range list {
		switch u {
		case certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth:
		default:
			return fmt.Errorf("invalid usage for client certificate: %s", u)
		}
	}
	if !slices.Contains(list, certificatesv1.UsageClientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}

// mismatch is the reason why a signer does not accept a kubelet's request, as clients see it
// (pkg/apis/certificates/helpers.go).
type mismatch string

// Error implements error.
func (m mismatch) Error() string { return string(m) }

// The mismatches of subjects and alternative names.
const (
	errOrganization mismatch = "subject organization is not system:nodes"
	errCommonName   mismatch = "subject common name does not begin with system:node:"
	errNoSubject    mismatch = "DNS or IP subjectAltName is required"
	errDNS          mismatch = "DNS subjectAltNames are not allowed"
	errEmail        mismatch = "Email subjectAltNames are not allowed"
	errIP           mismatch = "IP subjectAltNames are not allowed"
	errURI          mismatch = "URI subjectAltNames are not allowed"
)

// checkKubeletClient is for the client certificate of a node, which names nothing but the node
// (ValidateKubeletClientCSR).
func checkKubeletClient(r *x509.CertificateRequest, list []certificatesv1.KeyUsage) error {
	switch {
	case !slices.Equal(r.Subject.Organization, []string{"system:nodes"}):
		return errOrganization
	case len(r.DNSNames) > 0:
		return errDNS
	case len(r.EmailAddresses) > 0:
		return errEmail
	case len(r.IPAddresses) > 0:
		return errIP
	case len(r.URIs) > 0:
		return errURI
	case !strings.HasPrefix(r.Subject.CommonName, "system:node:"):
		return errCommonName
	}
	return exactly(list, certificatesv1.UsageClientAuth)
}

// checkKubeletServing is for the serving certificate of a node, which has addresses (ValidateKubeletServingCSR).
func checkKubeletServing(r *x509.CertificateRequest, list []certificatesv1.KeyUsage) error {
	switch {
	case !slices.Equal(r.Subject.Organization, []string{"system:nodes"}):
		return errOrganization
	case len(r.DNSNames) == 0 && len(r.IPAddresses) == 0:
		return errNoSubject
	case len(r.EmailAddresses) > 0:
		return errEmail
	case len(r.URIs) > 0:
		return errURI
	}
	if err := exactly(list, certificatesv1.UsageServerAuth); err != nil {
		return err
	}
	if !strings.HasPrefix(r.Subject.CommonName, "system:node:") {
		return errCommonName
	}
	return nil
}

// exactly requires the usage and digital signature, and no others. Key encipherment, which RSA needs, is optional.
func exactly(list []certificatesv1.KeyUsage, usage certificatesv1.KeyUsage) error {
	want := []certificatesv1.KeyUsage{
		certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, usage,
	}
	slices.Sort(want)
	got := slices.Compact(slices.Sorted(slices.Values(list)))
	without := slices.DeleteFunc(slices.Clone(want), func(u certificatesv1.KeyUsage) bool {
		return u == certificatesv1.UsageKeyEncipherment
	})
	if !slices.Equal(got, want) && !slices.Equal(got, without) {
		return fmt.Errorf("usages did not match %v", want)
	}
	return nil
}
