package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/admissionregistration"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(admissionv1.SchemeGroupVersion,
		mutatingAdmissionPolicies(),
		mutatingAdmissionPolicyBindings(),
		mutatingWebhookConfigurations(),
		validatingAdmissionPolicies(),
		validatingAdmissionPolicyBindings(),
		validatingWebhookConfigurations(),
	))
}
