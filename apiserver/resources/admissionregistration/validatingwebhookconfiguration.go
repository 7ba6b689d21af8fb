package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// validatingWebhookConfigurations is the entry of ValidatingWebhookConfiguration.
func validatingWebhookConfigurations() *entry.Resource {
	return &entry.Resource{
		Plural: "validatingwebhookconfigurations", New: entry.New[admissionv1.ValidatingWebhookConfiguration],
		Storage:    entry.Storage{Governs: true},
		Categories: entry.APIExtensions,
		Strategy: entry.Strategy{
			Generation:     entry.RootGeneration,
			Conditional:    true,
			Metadata:       entry.Metadata{Custom: true},
			Default:        entry.Default(defaultValidatingWebhookConfiguration),
			Validate:       entry.ValidateNew(validateValidatingWebhooks),
			ValidateUpdate: entry.ValidateChange(validateValidatingWebhooks),
			Warnings:       entry.Warn(validatingWebhookWarnings),
		},
		Table: entry.Printed(webhookColumns(), func(c *admissionv1.ValidatingWebhookConfiguration) []any {
			return []any{int64(len(c.Webhooks))}
		}),
	}
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

// hooks returns a configuration's webhooks as one type; only mutating ones have a reinvocation policy.
func validatingHooks(c *admissionv1.ValidatingWebhookConfiguration) (list []admissionv1.MutatingWebhook) {
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

func validateValidatingWebhooks(c, old *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	if old == nil {
		return webhooks(validatingHooks(c), webhookTolerance{})
	}
	return webhooks(validatingHooks(c), webhookToleranceOf(validatingHooks(c), validatingHooks(old)))
}
