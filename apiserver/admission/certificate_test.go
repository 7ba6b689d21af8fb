package admission

import (
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// TestPermissionForTheSignerIsRequired: the permission is for the signer of the old object, or for the signer's domain.
func TestPermissionForTheSignerIsRequired(t *testing.T) {
	csr := func(signer, certificate string) *certificatesv1.CertificateSigningRequest {
		c := &certificatesv1.CertificateSigningRequest{}
		c.Spec.SignerName, c.Status.Certificate = signer, []byte(certificate)
		return c
	}
	const signer = "x.io/s"
	for name, test := range map[string]struct {
		may         string
		subresource string
		now         *certificatesv1.CertificateSigningRequest
		want        string
	}{
		"approving":                {"approve x.io/s", "approval", csr(signer, ""), ""},
		"approving for the domain": {"approve x.io/*", "approval", csr(signer, ""), ""},
		"approving for another": {
			"approve y.io/t", "approval", csr("y.io/t", ""), `user not permitted to approve requests with signerName "x.io/s"`,
		},
		"approving by who may sign": {
			"sign x.io/s", "approval", csr(signer, ""), `user not permitted to approve requests with signerName "x.io/s"`,
		},
		"signing": {"sign x.io/s", "status", csr(signer, "c"), ""},
		"signing by who may approve": {
			"approve x.io/s", "status", csr(signer, "c"), `user not permitted to sign requests with signerName "x.io/s"`,
		},
		"a status that signs nothing": {"", "status", csr(signer, ""), ""},
		"an update of something else": {"", "", csr(signer, ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			authorize := func(a *authorization.Attributes) authorization.Decision {
				if a.Group == "certificates.k8s.io" && a.Resource == "signers" && a.Verb+" "+a.Name == test.may {
					return authorization.Decision{Verdict: authorization.Allow}
				}
				return authorization.Decision{}
			}
			a := &Attributes{Operation: Update, Subresource: test.subresource, Object: test.now, Old: csr(signer, "")}
			got := ""
			for _, p := range []Validator{
				&CertificateApproval{Authorize: authorize}, &CertificateSigning{Authorize: authorize},
			} {
				if err := p.Validate(t.Context(), a); err != nil {
					got += err.Error()
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
