package admissionregistration

import (
	"time"

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
			Validate:       entry.Validate(validateMutatingWebhooks),
			ValidateUpdate: entry.ValidateChange(validateMutatingWebhooksUpdate),
			Warnings:       entry.Warn(mutatingWebhookWarnings),
		},
		Table: entry.TableOf(webhookColumns(), mutatingWebhookCells),
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

func validateMutatingWebhooks(c *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	return webhooks(c.Webhooks, webhookTolerance{})
}

func validateMutatingWebhooksUpdate(c, old *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	return webhooks(c.Webhooks, webhookToleranceOf(c.Webhooks, old.Webhooks))
}

func mutatingWebhookCells(c *admissionv1.MutatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, int64(len(c.Webhooks)), entry.AgeOf(&c.ObjectMeta, now)}
}
