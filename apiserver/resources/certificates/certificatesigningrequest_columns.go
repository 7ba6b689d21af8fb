package certificates

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// signerDescription is that of v1beta1. That package is not linked for it, as it would add unused types with all their
// methods.
const signerDescription = `Requested signer for the request. It is a qualified name in the form: ` +
	"`scope-hostname.io/name`" + `. If empty, it will be defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using ` + "`spec.signerName`."

// signingRequestColumns have the descriptions of v1beta1, as upstream's printers have. The requestor's description is
// that of the request, as upstream.
func signingRequestColumns() []entry.Column {
	return []entry.Column{
		entry.NameColumn,
		entry.AgeColumn,
		entry.Text("SignerName", signerDescription),
		entry.Text("Requestor", "Base64-encoded PKCS#10 CSR data"),
		entry.Text("RequestedDuration", certificatesv1.CertificateSigningRequestSpec{}.SwaggerDoc()["expirationSeconds"]),
		entry.Text("Condition", "Conditions applied to the request, such as approval or denial."),
	}
}

func signingRequestCells(r *certificatesv1.CertificateSigningRequest, now time.Time) []any {
	requested := entry.None
	if s := r.Spec.ExpirationSeconds; s != nil {
		requested = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{
		r.Name,
		entry.AgeOf(&r.ObjectMeta, now),
		entry.StringOr(r.Spec.SignerName, entry.None),
		r.Spec.Username,
		requested,
		signingCondition(r),
	}
}

// signingCondition depends only on the presence of conditions, not on their status.
func signingCondition(r *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range r.Status.Conditions {
		has[c.Type] = true
	}
	shown := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		shown = "Denied"
	case has[certificatesv1.CertificateApproved]:
		shown = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		shown += ",Failed"
	}
	if len(r.Status.Certificate) > 0 {
		shown += ",Issued"
	}
	return shown
}
