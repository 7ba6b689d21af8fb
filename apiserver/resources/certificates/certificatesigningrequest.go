package certificates

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func certificateSigningRequests(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "certificatesigningrequests", New: entry.New[certificatesv1.CertificateSigningRequest],
		ShortNames: []string{"csr"},
		Strategy: entry.Strategy{
			// ValidateCertificateRequestName accepts every valid path segment.
			Name:      path.ValidatePathSegmentName,
			Prepare:   entry.Prepare(createRequest, updateRequest),
			Requester: signingRequester,
			Validate:  entry.ValidateChange(validateSigningRequest),
		},
		Subresources: []entry.Subresource{
			{Name: "approval", Verbs: entry.Modify, Action: entry.Part,
				PrepareUpdate: entry.Change(func(obj, old *certificatesv1.CertificateSigningRequest) {
					approveRequest(clock, obj, old)
				}),
				ValidateUpdate: entry.ValidateChange(validateSigningRequestApproval),
			},
			entry.StatusSubresource(func(obj, old *certificatesv1.CertificateSigningRequest) {
				keepRequestDecisions(clock, obj, old)
			}, validateSigningRequestStatus),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "spec.signerName"}}},
		Table:     signingRequestTable(),
	}
}

// signingRequester records the user who creates a signing request. It is called after Prepare, which removes the
// client's values.
func signingRequester(obj runtime.Object, name, uid string, groups []string, extra map[string][]string) {
	s := &obj.(*certificatesv1.CertificateSigningRequest).Spec
	s.Username, s.UID, s.Groups, s.Extra = name, uid, groups, nil
	if len(extra) > 0 {
		s.Extra = make(map[string]certificatesv1.ExtraValue, len(extra))
		for k, v := range extra {
			s.Extra[k] = v
		}
	}
}

func createRequest(r *certificatesv1.CertificateSigningRequest) {
	signingRequester(r, "", "", nil, nil)
}

// updateRequest makes the spec immutable; only subresources change a request.
func updateRequest(r, old *certificatesv1.CertificateSigningRequest) { r.Spec = old.Spec }

// approveRequest allows only conditions to change.
func approveRequest(now entry.Clock, r, old *certificatesv1.CertificateSigningRequest) {
	stamp(now, r, old)
	decided := r.Status.Conditions
	r.Spec, r.Status = old.Spec, old.Status
	r.Status.Conditions = decided
}

// keepRequestDecisions restores the old conditions for approval and denial. If a client adds or removes such a
// condition, the change stays, and validation rejects it.
func keepRequestDecisions(now entry.Clock, r, old *certificatesv1.CertificateSigningRequest) {
	for _, decision := range approvals {
		keepConditions(conditionsOf(r, decision), conditionsOf(old, decision))
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
		for _, was := range conditionsOf(old, c.Type) {
			if was.Status == c.Status && !was.LastTransitionTime.IsZero() {
				c.LastTransitionTime = was.LastTransitionTime
				break
			}
		}
	}
}

// signerDescription is v1beta1's description of the field. It is copied, because the package of v1beta1 would add
// unused types and their methods to the binary.
const signerDescription = `Requested signer for the request. It is a qualified name in the form: ` +
	"`scope-hostname.io/name`" + `. If empty, it will be defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using ` + "`spec.signerName`."

// signingRequestTable returns the table with the descriptions of v1beta1, as upstream does. As in upstream, the column
// Requestor has the description of the field request.
func signingRequestTable() entry.Table {
	return entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.AgeColumn,
		entry.Text("SignerName", signerDescription),
		entry.Text("Requestor", "Base64-encoded PKCS#10 CSR data"),
		entry.Text("RequestedDuration", certificatesv1.CertificateSigningRequestSpec{}.SwaggerDoc()["expirationSeconds"]),
		entry.Text("Condition", "Conditions applied to the request, such as approval or denial."),
	}, func(r *certificatesv1.CertificateSigningRequest) []any {
		requested := entry.None
		if s := r.Spec.ExpirationSeconds; s != nil {
			requested = duration.HumanDuration(time.Duration(*s) * time.Second)
		}
		return []any{entry.StringOr(r.Spec.SignerName, entry.None), r.Spec.Username, requested, signingCondition(r)}
	})
}

// signingCondition returns the cell of the column Condition. It depends only on the presence of conditions, not on
// their status.
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
