package resources

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
)

func admissionregistration() []*Resource {
	const (
		noPolicies = "admission policies are not evaluated"
		noWebhooks = "admission webhooks are not called"
	)
	policies := Strategy{Generation: SpecGeneration, Conditional: true, CustomMeta: true}
	webhooks := Strategy{Generation: RootGeneration, Conditional: true, CustomMeta: true}
	return group(admissionv1.SchemeGroupVersion,
		// v1.36 still writes the mutating policies as v1beta1, so that v1.35 can read them
		// (pkg/kubeapiserver/default_storage_factory_builder.go).
		&Resource{Plural: "mutatingadmissionpolicies", New: of[admissionv1.MutatingAdmissionPolicy], Categories: apiExtensions,
			Inert: noPolicies, Strategy: policies,
			Stored:     admissionv1beta1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"),
			ToStored:   recast[admissionv1beta1.MutatingAdmissionPolicy],
			FromStored: recast[admissionv1.MutatingAdmissionPolicy]},
		&Resource{Plural: "mutatingadmissionpolicybindings", New: of[admissionv1.MutatingAdmissionPolicyBinding],
			Categories: apiExtensions,
			Inert:      noPolicies, Strategy: policies,
			Stored:     admissionv1beta1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"),
			ToStored:   recast[admissionv1beta1.MutatingAdmissionPolicyBinding],
			FromStored: recast[admissionv1.MutatingAdmissionPolicyBinding]},
		&Resource{Plural: "mutatingwebhookconfigurations", New: of[admissionv1.MutatingWebhookConfiguration],
			Categories: apiExtensions, Inert: noWebhooks, Strategy: webhooks},
		&Resource{Plural: "validatingadmissionpolicies", New: of[admissionv1.ValidatingAdmissionPolicy],
			Categories: apiExtensions, Inert: noPolicies, Strategy: policies, Subresources: withStatus},
		&Resource{Plural: "validatingadmissionpolicybindings", New: of[admissionv1.ValidatingAdmissionPolicyBinding],
			Categories: apiExtensions, Inert: noPolicies, Strategy: policies},
		&Resource{Plural: "validatingwebhookconfigurations", New: of[admissionv1.ValidatingWebhookConfiguration],
			Categories: apiExtensions, Inert: noWebhooks, Strategy: webhooks},
	)
}
