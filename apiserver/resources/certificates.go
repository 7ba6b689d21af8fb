package resources

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/prepare"
)

func signingRequester(obj runtime.Object, name, uid string, groups []string, extra map[string][]string) {
	prepare.Requester(obj.(*certificatesv1.CertificateSigningRequest), name, uid, groups, extra)
}

func certificates() []*Resource {
	return group(certificatesv1.SchemeGroupVersion,
		&Resource{Plural: "certificatesigningrequests", New: of[certificatesv1.CertificateSigningRequest], ShortNames: []string{"csr"},
			// ValidateCertificateRequestName takes everything that fits into a path.
			Strategy: Strategy{Name: path.ValidatePathSegmentName, Requester: signingRequester},
			Subresources: []Subresource{
				{Name: "approval", Verbs: modify, Action: Part}, status}},
	)
}
