package resources

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
)

func certificates() []*Resource {
	return group(certificatesv1.SchemeGroupVersion,
		&Resource{Plural: "certificatesigningrequests", New: of[certificatesv1.CertificateSigningRequest], ShortNames: []string{"csr"},
			// ValidateCertificateRequestName takes everything that fits into a path.
			Strategy: Strategy{Name: path.ValidatePathSegmentName},
			Subresources: []Subresource{
				{Name: "approval", Verbs: modify, Action: Part}, status}},
	)
}
