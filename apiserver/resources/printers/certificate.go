package printers

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// signingRequestColumns are described as in v1beta1, as upstream's printers still do. The
// requestor's description is the request's, also there.
func signingRequestColumns() []Column {
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		ageColumn,
		text("SignerName", spec["signerName"]),
		text("Requestor", spec["request"]),
		text("RequestedDuration", spec["expirationSeconds"]),
		text("Condition", certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"]),
	}
}

func signingRequestCells(r *certificatesv1.CertificateSigningRequest, now time.Time) []any {
	requested := none
	if s := r.Spec.ExpirationSeconds; s != nil {
		requested = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{
		r.Name,
		age(&r.ObjectMeta, now),
		or(r.Spec.SignerName, none),
		r.Spec.Username,
		requested,
		signingCondition(r),
	}
}

// signingCondition goes by the presence of conditions, whatever their status is.
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
