package admissionregistration

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/defaulting"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/printing"
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
			Default:        defaulting.Hook(defaultMutatingWebhookConfiguration),
			Validate:       entry.Validate(validateMutatingWebhooks),
			ValidateUpdate: entry.ValidateChange(validateMutatingWebhooksUpdate),
			Warnings:       entry.Warn(mutatingWebhookWarnings),
		},
		Table: printing.Table(webhookColumns(), mutatingWebhookCells),
	}
}

// defaultMutatingWebhookConfiguration sets the failure policy Fail, a timeout of ten seconds, and no reinvocation.
func defaultMutatingWebhookConfiguration(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		defaulting.Set(&w.FailurePolicy, admissionv1.Fail)
		defaulting.Set(&w.MatchPolicy, admissionv1.Equivalent)
		defaulting.Set(&w.NamespaceSelector, metav1.LabelSelector{})
		defaulting.Set(&w.ObjectSelector, metav1.LabelSelector{})
		defaulting.Set(&w.TimeoutSeconds, 10)
		defaulting.Set(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
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
	return []any{c.Name, int64(len(c.Webhooks)), printing.AgeOf(&c.ObjectMeta, now)}
}
