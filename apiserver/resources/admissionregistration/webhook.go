package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/util/webhook"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// webhookConfigurations returns the entry of a kind. hooks returns the webhooks of an object as one type.
func webhookConfigurations[T any, P interface {
	*T
	entry.Object
}](plural string, setDefaults func(*T), hooks func(*T) []admissionv1.MutatingWebhook) *entry.Resource {
	validate := func(c, old *T) field.ErrorList {
		if old == nil {
			return webhooks(hooks(c), webhookTolerance{})
		}
		return webhooks(hooks(c), webhookToleranceOf(hooks(c), hooks(old)))
	}
	r := governing[T, P](plural, setDefaults, validate, entry.Listed(
		[]entry.Column{entry.Integer("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration")},
		func(c P) []any { return []any{int64(len(hooks(c)))} }))
	r.Strategy.Generation = entry.RootGeneration
	r.Strategy.Warnings = entry.Warn(func(c, _ P) []string { return webhookWarnings(c, hooks(c)) })
	return r
}

func defaultWebhookClient(c *admissionv1.WebhookClientConfig) {
	if c.Service != nil {
		check.SetDefault(&c.Service.Port, 443)
	}
}

func defaultWebhookRules(rules []admissionv1.RuleWithOperations) {
	for i := range rules {
		check.SetDefault(&rules[i].Scope, admissionv1.AllScopes)
	}
}

const maxMatchConditions = 64

var (
	reviewVersions  = []string{"v1", "v1beta1"}
	failurePolicies = []admissionv1.FailurePolicyType{admissionv1.Fail, admissionv1.Ignore}
	matchPolicies   = []admissionv1.MatchPolicyType{admissionv1.Equivalent, admissionv1.Exact}
	sideEffects     = []admissionv1.SideEffectClass{
		admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun, admissionv1.SideEffectClassSome,
		admissionv1.SideEffectClassUnknown,
	}
	noSideEffects = sideEffects[:2]
	operations    = []admissionv1.OperationType{
		admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update,
	}
	scopes = []admissionv1.ScopeType{
		admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope,
	}
	reinvocationPolicies = []admissionv1.ReinvocationPolicyType{
		admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy,
	}
)

// webhookTolerance has the kinds of invalid values that an update may keep.
type webhookTolerance struct {
	sideEffects, versions, names, selectors, conditions bool
	expressions                                         expression.Texts
}

func webhookToleranceOf(now, was []admissionv1.MutatingWebhook) (t webhookTolerance) {
	t.conditions, t.expressions = len(now) == len(was), textsOfWebhooks(was)
	names := check.Unique[string]{}
	for i := range was {
		w := &was[i]
		t.sideEffects = t.sideEffects || w.SideEffects == nil || !slices.Contains(noSideEffects, *w.SideEffects)
		t.versions = t.versions ||
			len(w.AdmissionReviewVersions) > 0 && !slices.ContainsFunc(w.AdmissionReviewVersions, reviewed)
		t.names = t.names || names[w.Name]
		names[w.Name] = true
		for _, s := range []*metav1.LabelSelector{w.NamespaceSelector, w.ObjectSelector} {
			errs := metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, nil)
			t.selectors = t.selectors || len(errs) > 0
		}
		t.conditions = t.conditions && slices.Equal(now[i].MatchConditions, w.MatchConditions)
	}
	return t
}

func reviewed(version string) bool { return slices.Contains(reviewVersions, version) }

func webhooks(list []admissionv1.MutatingWebhook, t webhookTolerance) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range list {
		w, at := &list[i], field.NewPath("webhooks").Index(i)
		errs = append(errs, webhook(w, t, at)...)
		errs = append(errs, reviewVersionsOf(w.AdmissionReviewVersions, t, at.Child("admissionReviewVersions"))...)
		if names[w.Name] && !t.names && w.Name != "" {
			errs = append(errs, field.Duplicate(at.Child("name"), w.Name))
		}
		names[w.Name] = true
	}
	return errs
}

func reviewVersionsOf(versions []string, t webhookTolerance, at *field.Path) (errs field.ErrorList) {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(at, "must specify one of "+strings.Join(reviewVersions, ", "))}
	}
	seen := map[string]bool{}
	for i, v := range versions {
		if seen[v] {
			errs = append(errs, field.Invalid(at.Index(i), v, "duplicate version"))
			continue
		}
		seen[v] = true
		errs = append(errs, check.Apply(v, at.Index(i), utilvalidation.IsDNS1035Label)...)
	}
	return append(errs, check.Reject(!t.versions && !slices.ContainsFunc(versions, reviewed), at, versions,
		"must include at least one of "+strings.Join(reviewVersions, ", "))...)
}

func webhook(w *admissionv1.MutatingWebhook, t webhookTolerance, at *field.Path) field.ErrorList {
	errs := utilvalidation.IsFullyQualifiedName(at.Child("name"), w.Name)
	errs = append(errs, check.Each(w.Rules, at.Child("rules"), operationRule)...)
	errs = append(errs, check.GivenOneOf(w.FailurePolicy, at.Child("failurePolicy"), failurePolicies)...)
	errs = append(errs, check.GivenOneOf(w.MatchPolicy, at.Child("matchPolicy"), matchPolicies)...)
	allowed, texts := noSideEffects, "None, NoneOnDryRun"
	if t.sideEffects {
		allowed, texts = sideEffects, "None, NoneOnDryRun, Some, Unknown"
	}
	errs = append(errs, check.Must(w.SideEffects, at.Child("sideEffects"), "must specify one of "+texts,
		check.Among(allowed...))...)
	if s := w.TimeoutSeconds; s != nil && (*s > 30 || *s < 1) {
		errs = append(errs, field.Invalid(at.Child("timeoutSeconds"), *s,
			"the timeout value must be between 1 and 30 seconds"))
	}
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: t.selectors}
	errs = append(errs, metav1validation.ValidateLabelSelector(w.NamespaceSelector, opts,
		at.Child("namespaceSelector"))...)
	errs = append(errs, metav1validation.ValidateLabelSelector(w.ObjectSelector, opts, at.Child("objectSelector"))...)
	errs = append(errs, check.GivenOneOf(w.ReinvocationPolicy, at.Child("reinvocationPolicy"), reinvocationPolicies)...)
	errs = append(errs, webhookClient(&w.ClientConfig, at.Child("clientConfig"))...)
	if !t.conditions {
		c := expression.NewChecker(t.expressions)
		errs = append(errs, matchConditions(c, w.MatchConditions, at.Child("matchConditions"))...)
	}
	return errs
}

func webhookClient(c *admissionv1.WebhookClientConfig, at *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(at, "exactly one of url or service is required")}
	case c.URL != nil:
		return upstream.ValidateWebhookURL(at.Child("url"), *c.URL, true)
	}
	// Upstream swaps name and namespace: the error for an empty name has the path of the namespace, and vice versa.
	s := c.Service
	return upstream.ValidateWebhookService(at.Child("service"), s.Name, s.Namespace, s.Path, check.ValueOf(s.Port))
}

func matchConditions(
	checker *expression.Checker, list []admissionv1.MatchCondition, at *field.Path,
) (errs field.ErrorList) {
	errs = append(errs, check.MaxItems(len(list), maxMatchConditions, at)...)
	names := check.Unique[string]{}
	for i, c := range list {
		at := at.Index(i)
		errs = append(errs, required(checker, expression.Condition, strings.TrimSpace(c.Expression), "",
			at.Child("expression"))...)
		if c.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		errs = append(errs, check.QualifiedName(c.Name, at.Child("name"))...)
		errs = append(errs, names.Add(c.Name, at.Child("name"))...)
	}
	return errs
}

func operationRule(r *admissionv1.RuleWithOperations, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(len(r.Operations) > 0, at.Child("operations"), "")...)
	errs = append(errs, check.Reject(len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll),
		at.Child("operations"), r.Operations, "if '*' is present, must not specify other operations")...)
	errs = append(errs, check.All(r.Operations, at.Child("operations"), check.Among(operations...))...)
	for _, list := range []struct {
		name, what string
		values     []string
	}{{"apiGroups", "API groups", r.APIGroups}, {"apiVersions", "API versions", r.APIVersions}} {
		errs = append(errs, check.Present(len(list.values) > 0, at.Child(list.name), "")...)
		errs = append(errs, check.WildcardAlone(list.values, list.what, at.Child(list.name))...)
	}
	for i, v := range r.APIVersions {
		errs = append(errs, check.Present(v != "", at.Child("apiVersions").Index(i), "")...)
	}
	errs = append(errs, ruleResources(r.Resources, at.Child("resources"))...)
	return append(errs, check.GivenOneOf(r.Scope, at.Child("scope"), scopes)...)
}

// ruleResources rejects wildcards beside the resources that they include.
func ruleResources(list []string, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(len(list) > 0, at, "")...)
	whole, everywhere := map[string]bool{}, map[string]bool{}
	plain := false
	for i, both := range list {
		if both == "" {
			errs = append(errs, field.Required(at.Index(i), ""))
			continue
		}
		res, sub, ok := strings.Cut(both, "/")
		if !ok {
			// As in upstream, the last one decides.
			plain = both != "*"
			continue
		}
		errs = append(errs, check.Reject(whole[res], at.Index(i), both,
			fmt.Sprintf("if '%s/*' is present, must not specify %s", res, both))...)
		errs = append(errs, check.Reject(everywhere[sub], at.Index(i), both,
			fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, both))...)
		whole[res] = whole[res] || sub == "*"
		everywhere[sub] = everywhere[sub] || res == "*"
	}
	errs = append(errs, check.Reject(len(list) > 1 && slices.Contains(list, "*/*"), at, list,
		"if '*/*' is present, must not specify other resources")...)
	return append(errs, check.Reject(plain && slices.Contains(list, "*"), at, list,
		"if '*' is present, must not specify other resources without subresources")...)
}
