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

// Of returns the webhooks of a configuration in the order in which they are called. A validating one has the same
// fields as a mutating one, except for the reinvocationPolicy.
func Of(configuration string, mutating bool, list []admissionregistrationv1.MutatingWebhook) (all []*Configured) {
	for i := range list {
		h := configured(&list[i])
		h.Configuration, h.Index, h.Mutating = configuration, i, mutating
		all = append(all, h)
	}
	return all
}

func configured(w *admissionregistrationv1.MutatingWebhook) *Configured {
	namespaces, ofNamespace := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
	objects, ofObject := metav1.LabelSelectorAsSelector(w.ObjectSelector)
	h := &Configured{
		Hook: Hook{
			Name: w.Name, ReviewVersions: w.AdmissionReviewVersions, SideEffects: w.SideEffects,
			Client: webhook.Config{WebhookClientConfig: w.ClientConfig},
		},
		Namespaces: namespaces, Objects: objects, Invalid: cmp.Or(ofNamespace, ofObject),
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
