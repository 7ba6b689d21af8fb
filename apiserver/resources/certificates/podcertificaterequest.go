package certificates

import (
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// podCertificateRequests returns the entry of PodCertificateRequest (V-003). Like ClusterTrustBundle, it is stored as
// v1beta1. But --runtime-config can't enable v1beta1, which has two fields that v1 lacks.
func podCertificateRequests(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "podcertificaterequests", New: entry.New[certificatesv1.PodCertificateRequest], Namespaced: true,
		Storage: entry.Storage{
			Stored:     certificatesv1beta1.SchemeGroupVersion.WithKind("PodCertificateRequest"),
			ToStored:   entry.Recast[certificatesv1beta1.PodCertificateRequest],
			FromStored: entry.Recast[certificatesv1.PodCertificateRequest],
		},
		Strategy: entry.Strategy{
			Conditional: true,
			Default:     entry.Default(defaultPodCertificate),
			Validate:    entry.ValidateEither(validatePodCertificate, validatePodCertificateUpdate),
		},
		Subresources: []entry.Subresource{
			entry.StatusWith(entry.Subresource{
				PrepareUpdate: entry.Change(func(r, old *certificatesv1.PodCertificateRequest) {
					keepPodCertificateOutcome(clock, r, old)
				}),
				ValidateUpdate: entry.ValidateChange(func(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
					return validatePodCertificateStatus(r, old, clock().Time)
				}),
				Permit: permitIssue,
			}),
		},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "spec.signerName"}, {Label: "spec.podName"}, {Label: "spec.nodeName"}},
		},
		Table: podCertificateTable(),
	}
}

func defaultPodCertificate(r *certificatesv1.PodCertificateRequest) {
	check.SetDefault(&r.Spec.MaxExpirationSeconds, dayOfSeconds)
}

// The types of conditions that end a request.
const (
	issued = certificatesv1.PodCertificateRequestConditionTypeIssued
	denied = certificatesv1.PodCertificateRequestConditionTypeDenied
	failed = certificatesv1.PodCertificateRequestConditionTypeFailed
)

var outcomes = []string{issued, denied, failed}

// keepPodCertificateOutcome restores metadata, and the conditions with which the request ended, so that clients can't
// change them or their times. If a client adds or removes such a condition, validation decides (K
// pkg/registry/certificates/podcertificaterequest: PrepareForUpdate).
func keepPodCertificateOutcome(now entry.Clock, r, old *certificatesv1.PodCertificateRequest) {
	metav1.ResetObjectMetaForStatus(r, old)
	for _, t := range outcomes {
		keepConditions(conditionsOfType(r, t), conditionsOfType(old, t))
	}
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now()
		for _, was := range conditionsOfType(old, c.Type) {
			if was.Status == c.Status && !was.LastTransitionTime.IsZero() {
				c.LastTransitionTime = was.LastTransitionTime
				break
			}
		}
	}
}

func conditionsOfType(r *certificatesv1.PodCertificateRequest, t string) []*metav1.Condition {
	return ofType(r.Status.Conditions, func(c *metav1.Condition) string { return c.Type }, t)
}

// permitIssue requires the permission to sign for the signer if the chain changes (K
// pkg/registry/certificates/podcertificaterequest: StatusStrategy.ValidateUpdate).
func permitIssue(obj, old runtime.Object, user string, may entry.May) field.ErrorList {
	r, ok := obj.(*certificatesv1.PodCertificateRequest)
	was, both := old.(*certificatesv1.PodCertificateRequest)
	if !ok || !both || r.Status.CertificateChain == was.Status.CertificateChain ||
		MaySignFor(may, "sign", was.Spec.SignerName) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"),
		fmt.Sprintf("User %q is not permitted to %q for signer %q", user, "sign", was.Spec.SignerName))}
}

func podCertificateTable() entry.Table {
	docs := certificatesv1.PodCertificateRequestSpec{}.SwaggerDoc()
	return entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.Text("PodName", docs["podName"]),
		entry.Text("ServiceAccountName", docs["serviceAccountName"]),
		entry.Text("NodeName", docs["nodeName"]),
		entry.Text("SignerName", docs["signerName"]),
		entry.Text("State", "Is the request Pending, Issued, Denied, or Failed?"),
	}, func(r *certificatesv1.PodCertificateRequest) []any {
		state := "Pending"
		for _, t := range outcomes {
			if len(conditionsOfType(r, t)) > 0 {
				state = t
			}
		}
		return []any{r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state}
	})
}
