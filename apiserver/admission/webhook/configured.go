package webhook

import (
	"cmp"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// Configured is a webhook with the conditions under which it is called.
type Configured struct {
	Hook
	// Configuration is the name of the configuration. Index identifies the webhook in it, because two webhooks of a
	// configuration may have the same name.
	Configuration string
	Index         int
	// Rules match the requests for which it is called. Equivalent lets them match requests in other versions, too.
	Rules      []admissionregistrationv1.NamedRuleWithOperations
	Equivalent bool
	// Namespaces and Objects are its selectors.
	Namespaces, Objects labels.Selector
	// Invalid is the error of a selector, or nil. It rejects the requests that the rules match. Older versions of
	// Kubernetes stored invalid label values.
	Invalid error
	// Conditions returns its match conditions, or nil. They are compiled when they are first evaluated.
	Conditions func() *expression.Conditions
	// FailOpen reports whether a failed call is ignored (failurePolicy Ignore).
	FailOpen bool
	// Reinvoke reports whether it is called again after later changes (reinvocationPolicy IfNeeded).
	Reinvoke bool
}

// Validating returns the webhooks of a configuration in the order in which they are called.
func Validating(c *admissionregistrationv1.ValidatingWebhookConfiguration) (all []*Configured) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		all = append(all, configured(c.Name, i, &admissionregistrationv1.MutatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy,
			MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
			SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds,
			AdmissionReviewVersions: w.AdmissionReviewVersions, MatchConditions: w.MatchConditions,
		}))
	}
	return all
}

// Mutating returns the webhooks of a configuration in the order in which they are called.
func Mutating(c *admissionregistrationv1.MutatingWebhookConfiguration) (all []*Configured) {
	for i := range c.Webhooks {
		h := configured(c.Name, i, &c.Webhooks[i])
		h.Mutating = true
		all = append(all, h)
	}
	return all
}

// configured reads a webhook. A validating one has the same fields, except for the reinvocationPolicy.
func configured(configuration string, index int, w *admissionregistrationv1.MutatingWebhook) *Configured {
	namespaces, ofNamespace := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
	objects, ofObject := metav1.LabelSelectorAsSelector(w.ObjectSelector)
	h := &Configured{
		Hook: Hook{
			Name: w.Name, ReviewVersions: w.AdmissionReviewVersions, SideEffects: w.SideEffects,
			Client: client(w.ClientConfig),
		},
		Configuration: configuration, Index: index, Namespaces: namespaces, Objects: objects,
		Invalid: cmp.Or(ofNamespace, ofObject),
		Conditions: sync.OnceValue(func() *expression.Conditions {
			return expression.CompileConditions(w.MatchConditions)
		}),
		Equivalent: w.MatchPolicy == nil || *w.MatchPolicy == admissionregistrationv1.Equivalent,
		FailOpen:   w.FailurePolicy != nil && *w.FailurePolicy == admissionregistrationv1.Ignore,
		Reinvoke: w.ReinvocationPolicy != nil &&
			*w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy,
	}
	for _, r := range w.Rules {
		h.Rules = append(h.Rules, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: r})
	}
	if w.TimeoutSeconds != nil {
		h.Timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	return h
}

func client(c admissionregistrationv1.WebhookClientConfig) webhook.Config {
	out := webhook.Config{CABundle: c.CABundle}
	if c.URL != nil {
		out.URL = *c.URL
	}
	if s := c.Service; s != nil {
		out.Service = &webhook.Service{Namespace: s.Namespace, Name: s.Name}
		if s.Port != nil {
			out.Service.Port = *s.Port
		}
		if s.Path != nil {
			out.Service.Path = *s.Path
		}
	}
	return out
}
