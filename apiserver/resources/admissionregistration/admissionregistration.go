package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(admissionv1.SchemeGroupVersion,
		mutatingAdmissionPolicies(),
		mutatingAdmissionPolicyBindings(),
		mutatingWebhookConfigurations(),
		validatingAdmissionPolicies(),
		validatingAdmissionPolicyBindings(),
		validatingWebhookConfigurations(),
	))
}
