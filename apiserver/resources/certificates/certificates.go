package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/certificates"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(clock entry.Clock) []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(certificatesv1.SchemeGroupVersion,
		certificateSigningRequests(clock),
		clusterTrustBundles(),
		podCertificateRequests(clock),
	))
}
