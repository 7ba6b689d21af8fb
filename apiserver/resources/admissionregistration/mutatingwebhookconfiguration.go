package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// mutatingWebhookConfigurations is the entry of MutatingWebhookConfiguration.
func mutatingWebhookConfigurations() *entry.Resource {
	return &entry.Resource{
		Plural: "mutatingwebhookconfigurations", New: entry.New[admissionv1.MutatingWebhookConfiguration],
		Storage:    entry.Storage{Governs: true},
		Categories: entry.APIExtensions,
		Strategy: entry.Strategy{
			Generation:     entry.RootGeneration,
			Conditional:    true,
			Metadata:       entry.Metadata{Custom: true},
			Default:        entry.Default(defaultMutatingWebhookConfiguration),
			Validate:       entry.ValidateNew(validateMutatingWebhooks),
			ValidateUpdate: entry.ValidateChange(validateMutatingWebhooks),
			Warnings:       entry.Warn(mutatingWebhookWarnings),
		},
		Table: entry.Printed(webhookColumns(), func(c *admissionv1.MutatingWebhookConfiguration) []any {
			return []any{int64(len(c.Webhooks))}
		}),
	}
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

func validateMutatingWebhooks(c, old *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	if old == nil {
		return webhooks(c.Webhooks, webhookTolerance{})
	}
	return webhooks(c.Webhooks, webhookToleranceOf(c.Webhooks, old.Webhooks))
}
