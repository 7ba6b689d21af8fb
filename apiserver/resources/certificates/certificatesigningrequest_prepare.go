package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"
)

// Requester records the user who creates a signing request. It is called after Create, which removes what the client
// set.
func Requester(
	r *certificatesv1.CertificateSigningRequest, name, uid string, groups []string, extra map[string][]string,
) {
	r.Spec.Username, r.Spec.UID, r.Spec.Groups, r.Spec.Extra = name, uid, groups, nil
	if len(extra) > 0 {
		r.Spec.Extra = make(map[string]certificatesv1.ExtraValue, len(extra))
		for k, v := range extra {
			r.Spec.Extra[k] = v
		}
	}
}

func createRequest(r *certificatesv1.CertificateSigningRequest) { Requester(r, "", "", nil, nil) }

// updateRequest makes the spec immutable; only subresources change a request.
func updateRequest(r, old *certificatesv1.CertificateSigningRequest) { r.Spec = old.Spec }

func conditions(
	r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType,
) []*certificatesv1.CertificateSigningRequestCondition {
	var list []*certificatesv1.CertificateSigningRequestCondition
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == t {
			list = append(list, &r.Status.Conditions[i])
		}
	}
	return list
}
