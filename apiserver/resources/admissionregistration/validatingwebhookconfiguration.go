package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func validatingWebhookConfigurations() *entry.Resource {
	return webhookConfigurations(
		"validatingwebhookconfigurations", defaultValidatingWebhookConfiguration, ValidatingHooks,
	)
}

// defaultValidatingWebhookConfiguration sets the failure policy Fail and a timeout of ten seconds.
func defaultValidatingWebhookConfiguration(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		check.SetDefault(&w.FailurePolicy, admissionv1.Fail)
		check.SetDefault(&w.MatchPolicy, admissionv1.Equivalent)
		check.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		check.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		check.SetDefault(&w.TimeoutSeconds, 10)
		defaultWebhookClient(&w.ClientConfig)
		defaultWebhookRules(w.Rules)
	}
}

// ValidatingHooks returns a configuration's webhooks as one type; only mutating ones have a reinvocation policy.
func ValidatingHooks(c *admissionv1.ValidatingWebhookConfiguration) (list []admissionv1.MutatingWebhook) {
	for _, w := range c.Webhooks {
		list = append(list, admissionv1.MutatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy,
			MatchPolicy:       w.MatchPolicy,
			NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects,
			TimeoutSeconds: w.TimeoutSeconds, AdmissionReviewVersions: w.AdmissionReviewVersions,
			MatchConditions: w.MatchConditions,
		})
	}
	return list
}
