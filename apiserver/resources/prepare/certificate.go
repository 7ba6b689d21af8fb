package prepare

import (
	certificatesv1 "k8s.io/api/certificates/v1"
)

// Requester notes who made a signing request. Whoever knows it calls this after Create, which
// empties what a client claimed.
func Requester(r *certificatesv1.CertificateSigningRequest, name, uid string, groups []string, extra map[string][]string) {
	r.Spec.Username, r.Spec.UID, r.Spec.Groups, r.Spec.Extra = name, uid, groups, nil
	if len(extra) > 0 {
		r.Spec.Extra = make(map[string]certificatesv1.ExtraValue, len(extra))
		for k, v := range extra {
			r.Spec.Extra[k] = v
		}
	}
}

func createRequest(r *certificatesv1.CertificateSigningRequest) { Requester(r, "", "", nil, nil) }

// updateRequest keeps the request: only its subresources change it.
func updateRequest(r, old *certificatesv1.CertificateSigningRequest) { r.Spec = old.Spec }

// requestStatus keeps approval and denial. If a client adds or removes one, it is left for
// validation to refuse.
func (now clock) requestStatus(r, old *certificatesv1.CertificateSigningRequest) {
	for _, decision := range []certificatesv1.RequestConditionType{
		certificatesv1.CertificateApproved, certificatesv1.CertificateDenied,
	} {
		is, was := conditions(r, decision), conditions(old, decision)
		if len(is) != len(was) {
			continue
		}
		for i := range is {
			*is[i] = *was[i]
		}
	}
	now.stamp(r, old)
}

// approveRequest lets nothing but conditions change.
func (now clock) approveRequest(r, old *certificatesv1.CertificateSigningRequest) {
	now.stamp(r, old)
	decided := r.Status.Conditions
	r.Spec, r.Status = old.Spec, old.Status
	r.Status.Conditions = decided
}

func conditions(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) []*certificatesv1.CertificateSigningRequestCondition {
	var list []*certificatesv1.CertificateSigningRequestCondition
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == t {
			list = append(list, &r.Status.Conditions[i])
		}
	}
	return list
}

// stamp fills in the times of conditions; one that was as it is keeps the time it became so.
func (now clock) stamp(r, old *certificatesv1.CertificateSigningRequest) {
	at := now()
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = at
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = at
		for _, was := range conditions(old, c.Type) {
			if was.Status == c.Status && !was.LastTransitionTime.IsZero() {
				c.LastTransitionTime = was.LastTransitionTime
				break
			}
		}
	}
}
