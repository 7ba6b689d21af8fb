package defaults

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MutatingAdmissionPolicy fails closed.
func MutatingAdmissionPolicy(p *admissionv1.MutatingAdmissionPolicy) {
	set(&p.Spec.FailurePolicy, admissionv1.Fail)
	matchResources(p.Spec.MatchConstraints)
}

// MutatingAdmissionPolicyBinding matches everything that it doesn't narrow.
func MutatingAdmissionPolicyBinding(b *admissionv1.MutatingAdmissionPolicyBinding) {
	matchResources(b.Spec.MatchResources)
}

// ValidatingAdmissionPolicy fails closed.
func ValidatingAdmissionPolicy(p *admissionv1.ValidatingAdmissionPolicy) {
	set(&p.Spec.FailurePolicy, admissionv1.Fail)
	matchResources(p.Spec.MatchConstraints)
}

// ValidatingAdmissionPolicyBinding matches everything that it doesn't narrow.
func ValidatingAdmissionPolicyBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) {
	matchResources(b.Spec.MatchResources)
}

func matchResources(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	set(&m.MatchPolicy, admissionv1.Equivalent)
	set(&m.NamespaceSelector, metav1.LabelSelector{})
	set(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			set(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}

// ValidatingWebhookConfiguration fails closed, after ten seconds.
func ValidatingWebhookConfiguration(c *admissionv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		set(&w.FailurePolicy, admissionv1.Fail)
		set(&w.MatchPolicy, admissionv1.Equivalent)
		set(&w.NamespaceSelector, metav1.LabelSelector{})
		set(&w.ObjectSelector, metav1.LabelSelector{})
		set(&w.TimeoutSeconds, 10)
		webhookClient(&w.ClientConfig)
		webhookRules(w.Rules)
	}
}

// MutatingWebhookConfiguration fails closed, after ten seconds, and isn't called again.
func MutatingWebhookConfiguration(c *admissionv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		set(&w.FailurePolicy, admissionv1.Fail)
		set(&w.MatchPolicy, admissionv1.Equivalent)
		set(&w.NamespaceSelector, metav1.LabelSelector{})
		set(&w.ObjectSelector, metav1.LabelSelector{})
		set(&w.TimeoutSeconds, 10)
		set(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		webhookClient(&w.ClientConfig)
		webhookRules(w.Rules)
	}
}

func webhookClient(c *admissionv1.WebhookClientConfig) {
	if c.Service != nil {
		set(&c.Service.Port, 443)
	}
}

func webhookRules(rules []admissionv1.RuleWithOperations) {
	for i := range rules {
		set(&rules[i].Scope, admissionv1.AllScopes)
	}
}
