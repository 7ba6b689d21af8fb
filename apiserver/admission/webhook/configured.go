package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// Configured is a webhook with what decides whether it is asked.
type Configured struct {
	Hook
	// Configuration is the name of the configuration, and Index the webhook's place in it. Two webhooks of a
	// configuration may have the same name.
	Configuration string
	Index         int
	Rules         Rules
	// Namespaces and Objects are its selectors.
	Namespaces, Objects labels.Selector
	Conditions          []admissionregistrationv1.MatchCondition
	// FailOpen says that a webhook that can't be asked is as if it were absent (failurePolicy Ignore).
	FailOpen bool
	// Reinvoke says that it is asked again after later changes (reinvocationPolicy IfNeeded).
	Reinvoke bool
}

// Validating returns the webhooks of configurations in the order in which they are asked: by the configurations' names.
func Validating(configs []*admissionregistrationv1.ValidatingWebhookConfiguration) ([]*Configured, error) {
	configs = slices.SortedFunc(slices.Values(configs),
		func(a, b *admissionregistrationv1.ValidatingWebhookConfiguration) int {
			return cmp.Compare(a.Name, b.Name)
		})
	var all []*Configured
	for _, c := range configs {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			h, err := configured(c.Name, i, w.Name, form{
				w.ClientConfig, w.Rules, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector, w.FailurePolicy,
				w.TimeoutSeconds, w.AdmissionReviewVersions, w.SideEffects, w.MatchConditions,
			})
			if err != nil {
				return nil, err
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// Mutating is Validating for mutating webhooks.
func Mutating(configs []*admissionregistrationv1.MutatingWebhookConfiguration) ([]*Configured, error) {
	configs = slices.SortedFunc(slices.Values(configs),
		func(a, b *admissionregistrationv1.MutatingWebhookConfiguration) int {
			return cmp.Compare(a.Name, b.Name)
		})
	var all []*Configured
	for _, c := range configs {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			h, err := configured(c.Name, i, w.Name, form{
				w.ClientConfig, w.Rules, w.MatchPolicy, w.NamespaceSelector, w.ObjectSelector, w.FailurePolicy,
				w.TimeoutSeconds, w.AdmissionReviewVersions, w.SideEffects, w.MatchConditions,
			})
			if err != nil {
				return nil, err
			}
			h.Mutating = true
			h.Reinvoke = w.ReinvocationPolicy != nil &&
				*w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy
			all = append(all, h)
		}
	}
	return all, nil
}

// form is what both kinds of webhooks have.
type form struct {
	client                  admissionregistrationv1.WebhookClientConfig
	rules                   []admissionregistrationv1.RuleWithOperations
	match                   *admissionregistrationv1.MatchPolicyType
	namespaceSelector, only *metav1.LabelSelector
	failure                 *admissionregistrationv1.FailurePolicyType
	timeout                 *int32
	versions                []string
	sideEffects             *admissionregistrationv1.SideEffectClass
	conditions              []admissionregistrationv1.MatchCondition
}

func configured(configuration string, index int, name string, f form) (*Configured, error) {
	namespaces, err := metav1.LabelSelectorAsSelector(f.namespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("namespaceSelector of webhook %s of %s: %w", name, configuration, err)
	}
	objects, err := metav1.LabelSelectorAsSelector(f.only)
	if err != nil {
		return nil, fmt.Errorf("objectSelector of webhook %s of %s: %w", name, configuration, err)
	}
	h := &Configured{
		Hook:          Hook{Name: name, ReviewVersions: f.versions, SideEffects: f.sideEffects, Client: client(f.client)},
		Configuration: configuration, Index: index, Namespaces: namespaces, Objects: objects, Conditions: f.conditions,
		Rules: Rules{
			Rules: f.rules, Equivalent: f.match == nil || *f.match == admissionregistrationv1.Equivalent,
		},
		FailOpen: f.failure != nil && *f.failure == admissionregistrationv1.Ignore,
	}
	if f.timeout != nil {
		h.Timeout = time.Duration(*f.timeout) * time.Second
	}
	return h, nil
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
