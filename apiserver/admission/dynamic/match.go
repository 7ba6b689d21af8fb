package dynamic

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/admissionregistration"
)

// policies holds all policies of one type and their bindings, both in the order of their names (M-39, M-67).
type policies struct {
	all   []*policy
	bound map[string][]*binding // by the policyName of the bindings
}

func (l *policies) add(p *policy) { l.all = append(l.all, p) }

func (l *policies) bind(b *binding) {
	if l.bound == nil {
		l.bound = map[string][]*binding{}
	}
	l.bound[b.policy] = append(l.bound[b.policy], b)
}

// candidate is a policy whose rules match a form of requests, with its bindings whose rules match the form, too.
type candidate struct {
	*policy
	outcome
	bindings []boundCandidate
}

type boundCandidate struct {
	*binding
	// all reports whether the binding matches all requests that its policy matches.
	all bool
	outcome
}

// outcome is the result of matching a MatchResources with a form of requests. The names of objects, and the labels of
// objects and namespaces, are matched later, for each request.
type outcome struct {
	*matching
	// excluded and rules are the rules that match the form. The first of rules that has the request's name determines
	// the version.
	excluded, rules []match
}

// match is a rule that matches a form of requests.
type match struct {
	// names are the names of the objects to which the rule applies. If it is empty, the rule applies to all.
	names []string
	// in is the resource to whose version the objects are converted.
	in *resources.Resource
}

func (n *match) has(name string) bool { return len(n.names) == 0 || slices.Contains(n.names, name) }

// target is a form of requests: the requested resource, and the equivalent resources for conversions.
type target struct {
	webhook.Target
	own         *resources.Resource
	equivalents []*resources.Resource
}

// outcome matches m with a form of requests. It returns false if m matches no request of that form.
func (m *matching) outcome(t *target) (outcome, bool) {
	o := outcome{
		matching: m, excluded: t.matched(m.excluded, m.equivalent), rules: t.matched(m.rules, m.equivalent),
	}
	if len(m.rules) == 0 {
		o.rules = []match{{in: t.own}}
	}
	excluded := slices.ContainsFunc(o.excluded, func(n match) bool { return len(n.names) == 0 })
	return o, len(o.rules) > 0 && !excluded
}

// matched returns the rules that match: first those for the request's own resource, then, if equivalent is set, those
// for equivalent ones (L-31 to L-35, M-17; ASP matching/matching.go: matchesResourceRules).
func (t *target) matched(rules []admissionv1.NamedRuleWithOperations, equivalent bool) (out []match) {
	for i := range rules {
		if t.Matches(&rules[i].RuleWithOperations) {
			out = append(out, match{rules[i].ResourceNames, t.own})
		}
	}
	if !equivalent {
		return out
	}
	for i := range rules {
		for _, r := range t.equivalents {
			shown := t.Target
			if shown.Resource = resourceOf(r); shown.Matches(&rules[i].RuleWithOperations) {
				out = append(out, match{rules[i].ResourceNames, r})
			}
		}
	}
	return out
}

// candidates returns the policies that may match. A policy without bindings has no effect (M-15).
func (l *policies) candidates(t *target) (out []candidate) {
	for _, p := range l.all {
		c := candidate{policy: p}
		var ok bool
		if c.outcome, ok = p.matching.outcome(t); !ok {
			continue
		}
		for _, b := range l.bound[p.name] {
			bound := boundCandidate{binding: b, all: b.matching == nil}
			if ok = bound.all; !ok {
				bound.outcome, ok = b.matching.outcome(t)
			}
			if ok {
				c.bindings = append(c.bindings, bound)
			}
		}
		if len(c.bindings) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// matches reports whether o matches a request, and returns the resource to whose version the objects are converted. A
// selector's error is returned only if everything else matches.
func (o *outcome) matches(ctx context.Context, q *request) (*resources.Resource, bool, error) {
	has := func(n match) bool { return n.has(q.name) }
	i := slices.IndexFunc(o.rules, has)
	if i < 0 || slices.ContainsFunc(o.excluded, has) {
		return nil, false, nil
	}
	if o.invalid != nil {
		return nil, false, o.invalid
	}
	ok, err := q.selected(ctx, o.namespaces, o.objects)
	return o.rules[i].in, ok, err
}

// exemptFromPolicies reports whether policies do not apply to a resource: to policies and bindings, so that users can
// always change them, and to reviews, which are not stored (M-21).
func exemptFromPolicies(r schema.GroupResource) bool {
	return admissionregistration.Reviews[r] || r.Group == group && slices.Contains(policyResources, r.Resource)
}

var policyResources = []string{
	"validatingadmissionpolicies", "validatingadmissionpolicybindings",
	"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
}

// exemptFromWebhooks reports whether webhooks are not called for requests of the resource (L-23, V-105).
func exemptFromWebhooks(r schema.GroupVersionResource) bool {
	return webhook.Exempt(r) || admissionregistration.Reviews[r.GroupResource()]
}
