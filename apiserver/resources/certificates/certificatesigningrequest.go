package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// certificateSigningRequests is the entry of CertificateSigningRequest.
func certificateSigningRequests(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "certificatesigningrequests", New: entry.New[certificatesv1.CertificateSigningRequest],
		ShortNames: []string{"csr"},
		Strategy: entry.Strategy{
			// ValidateCertificateRequestName accepts every valid path segment.
			Name:           path.ValidatePathSegmentName,
			PrepareCreate:  entry.Create(createRequest),
			PrepareUpdate:  entry.Change(updateRequest),
			Requester:      signingRequester,
			Validate:       entry.Validate(validateSigningRequest),
			ValidateUpdate: entry.ValidateChange(validateSigningRequestUpdate),
		},
		Subresources: []entry.Subresource{
			{Name: "approval", Verbs: entry.Modify, Action: entry.Part,
				PrepareUpdate: entry.Change(func(obj, old *certificatesv1.CertificateSigningRequest) {
					approveRequest(clock, obj, old)
				}),
				ValidateUpdate: entry.ValidateChange(validateSigningRequestApproval),
			},
			entry.StatusWith(entry.Subresource{
				PrepareUpdate: entry.Change(func(obj, old *certificatesv1.CertificateSigningRequest) {
					keepRequestDecisions(clock, obj, old)
				}),
				ValidateUpdate: entry.ValidateChange(validateSigningRequestStatus),
			}),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "spec.signerName"}}},
		Table:     entry.TableOf(signingRequestColumns(), signingRequestCells),
	}
}

func signingRequester(obj runtime.Object, name, uid string, groups []string, extra map[string][]string) {
	Requester(obj.(*certificatesv1.CertificateSigningRequest), name, uid, groups, extra)
}

// approveRequest allows only conditions to change.
func approveRequest(now entry.Clock, r, old *certificatesv1.CertificateSigningRequest) {
	stamp(now, r, old)
	decided := r.Status.Conditions
	r.Spec, r.Status = old.Spec, old.Status
	r.Status.Conditions = decided
}

// keepRequestDecisions restores approval and denial. If a client adds or removes one, it is kept for validation to
// reject.
func keepRequestDecisions(now entry.Clock, r, old *certificatesv1.CertificateSigningRequest) {
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
	stamp(now, r, old)
}

// stamp sets the times of conditions; an unchanged condition keeps its transition time.
func stamp(now entry.Clock, r, old *certificatesv1.CertificateSigningRequest) {
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
