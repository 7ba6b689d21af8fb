package admission

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/certificates"
)

// CertificateApproval rejects the approval or denial of a certificate request unless the user has permission to approve
// for its signer (K plugin/pkg/admission/certificates/approval).
type CertificateApproval struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
}

// Validate implements Validator. It uses the signer of the old object.
func (p *CertificateApproval) Validate(_ context.Context, a *Attributes) error {
	old, ok := a.Old.(*certificatesv1.CertificateSigningRequest)
	if !ok || a.Operation != Update || a.Subresource != "approval" ||
		mayFor(p.Authorize, a.User, "approve", old.Spec.SignerName) {
		return nil
	}
	return fmt.Errorf("user not permitted to approve requests with signerName %q", old.Spec.SignerName)
}

// CertificateSigning rejects the issuing of a certificate unless the user has permission to sign for the signer of its
// request (K plugin/pkg/admission/certificates/signing).
type CertificateSigning struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
}

// Validate implements Validator.
func (p *CertificateSigning) Validate(_ context.Context, a *Attributes) error {
	now, ok := a.Object.(*certificatesv1.CertificateSigningRequest)
	if !ok || a.Operation != Update || a.Subresource != "status" {
		return nil
	}
	old := a.Old.(*certificatesv1.CertificateSigningRequest)
	if bytes.Equal(now.Status.Certificate, old.Status.Certificate) &&
		apiequality.Semantic.DeepEqual(now.Status.Conditions, old.Status.Conditions) {
		return nil
	}
	if mayFor(p.Authorize, a.User, "sign", old.Spec.SignerName) {
		return nil
	}
	return fmt.Errorf("user not permitted to sign requests with signerName %q", old.Spec.SignerName)
}

// mayFor reports whether the user has the permission for the signer, or for all signers of its domain.
func mayFor(
	authorize func(*authorization.Attributes) authorization.Decision, user authorization.User, verb, signer string,
) bool {
	return certificates.MaySignFor(authorization.May(authorize, user), verb, signer)
}

// ClusterTrustBundleAttest rejects a write of a ClusterTrustBundle unless the user has permission to attest for its
// signer (V-113; K plugin/pkg/admission/certificates/ctbattest).
type ClusterTrustBundleAttest struct {
	// Authorize decides whether the client has a permission.
	Authorize func(*authorization.Attributes) authorization.Decision
}

// Validate implements Validator. It uses the signer of the new object, because an update that changes it is invalid.
// Writes that only migrate the stored object or collect garbage need no permission.
func (p *ClusterTrustBundleAttest) Validate(_ context.Context, a *Attributes) error {
	if a.Operation != Create && a.Operation != Update {
		return nil
	}
	signer := bundleSigner(a.Object)
	if signer == "" || changesOnlyGCFields(a) || mayFor(p.Authorize, a.User, "attest", signer) {
		return nil
	}
	return fmt.Errorf("user not permitted to attest for signerName %q", signer)
}

// bundleSigner returns the signer of a ClusterTrustBundle in the served or stored version, or an empty string.
func bundleSigner(obj runtime.Object) string {
	switch b := obj.(type) {
	case *certificatesv1.ClusterTrustBundle:
		return b.Spec.SignerName
	case *certificatesv1beta1.ClusterTrustBundle:
		return b.Spec.SignerName
	}
	return ""
}

// CertificateSubject is CertificateSubjectRestriction: a certificate that the cluster signs must not make its user a
// member of system:masters (K plugin/pkg/admission/certificates/subjectrestriction).
type CertificateSubject struct{}

// Validate implements Validator.
func (CertificateSubject) Validate(_ context.Context, a *Attributes) error {
	csr, ok := a.Object.(*certificatesv1.CertificateSigningRequest)
	if !ok || a.Operation != Create || a.Subresource != "" ||
		csr.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	request, err := certificates.ParseRequest(csr.Spec.Request)
	switch {
	case err != nil:
		return fmt.Errorf("failed to parse CSR: %w", err)
	case slices.Contains(request.Subject.Organization, "system:masters"):
		return fmt.Errorf(
			"use of %s signer with system:masters group is not allowed", certificatesv1.KubeAPIServerClientSignerName,
		)
	}
	return nil
}
