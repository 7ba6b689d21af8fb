package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func mutatingWebhookConfigurations() *entry.Resource {
	return webhookConfigurations("mutatingwebhookconfigurations", defaultMutatingWebhookConfiguration,
		func(c *admissionv1.MutatingWebhookConfiguration) []admissionv1.MutatingWebhook { return c.Webhooks })
}

// defaultMutatingWebhookConfiguration sets the failure policy Fail, a timeout of ten seconds, and no reinvocation.
func defaultMutatingWebhookConfiguration(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		check.SetDefault(&w.FailurePolicy, admissionv1.Fail)
		check.SetDefault(&w.MatchPolicy, admissionv1.Equivalent)
		check.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		check.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		check.SetDefault(&w.TimeoutSeconds, 10)
		check.SetDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		defaultWebhookClient(&w.ClientConfig)
		defaultWebhookRules(w.Rules)
	}
}
