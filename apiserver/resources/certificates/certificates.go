package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(clock entry.Clock) []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(certificatesv1.SchemeGroupVersion,
		certificateSigningRequests(clock),
		clusterTrustBundles(),
		podCertificateRequests(clock),
	))
}
