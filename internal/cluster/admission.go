package cluster

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// The Names of the resources that configure admission.
const (
	validatingWebhooks = "validatingwebhookconfigurations.admissionregistration.k8s.io"
	mutatingWebhooks   = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	policies           = "validatingadmissionpolicies.admissionregistration.k8s.io"
	policyBindings     = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
)

// admission reads the webhooks and policies that may deny updates or deletions. A list that was rejected is in the
// result as such already. Mutating policies are not among them: none is asked about a deletion (M-20).
func (r *reader) admission(
	ctx context.Context, d *Discovery, got *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	a := &hooks{reader: r, d: d, objects: objects, any: map[string]bool{}, reach: map[graph.Key]string{}}
	for k := range objects {
		a.any[k.Collection] = true
	}
	var validating admissionv1.ValidatingWebhookConfigurationList
	var mutating admissionv1.MutatingWebhookConfigurationList
	var all admissionv1.ValidatingAdmissionPolicyList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	for name, into := range map[string]any{
		validatingWebhooks: &validating, mutatingWebhooks: &mutating, policies: &all, policyBindings: &bindings,
	} {
		if !a.any[name] {
			continue
		}
		if err := r.c.getJSON(ctx, d.Named(name).path(""), nil, into); err != nil && code(err) == 0 {
			return fmt.Errorf("list of %s: %w", name, err)
		}
	}
	for _, c := range validating.Items {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			a.add(ctx, explain.Hook{
				Kind: "ValidatingWebhookConfiguration", Name: c.Name, Webhook: w.Name,
				Match:       match(w.Rules, w.NamespaceSelector, w.ObjectSelector),
				Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
			}, w.ClientConfig.Service)
		}
	}
	for _, c := range mutating.Items {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			a.add(ctx, explain.Hook{
				Kind: "MutatingWebhookConfiguration", Name: c.Name, Webhook: w.Name,
				Match:       match(w.Rules, w.NamespaceSelector, w.ObjectSelector),
				Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
			}, w.ClientConfig.Service)
		}
	}
	for i := range all.Items {
		p := &all.Items[i]
		a.add(ctx, explain.Hook{
			Kind: "ValidatingAdmissionPolicy", Name: p.Name, Match: matchNamed(p.Spec.MatchConstraints),
			Bindings: denying(bindings.Items, p.Name), Conditional: len(p.Spec.MatchConditions) > 0,
			Fails: fails(p.Spec.FailurePolicy),
		}, nil)
	}
	got.Hooks = a.found
	return ctx.Err()
}

// hooks collects the hooks, with whether the services of webhooks have endpoints.
type hooks struct {
	*reader
	d       *Discovery
	objects map[graph.Key]*explain.Object
	// any: there are objects of the resource.
	any   map[string]bool
	reach map[graph.Key]string
	found []explain.Hook
}

// add adds a hook that may be asked about updates or deletions.
func (a *hooks) add(ctx context.Context, h explain.Hook, service *admissionv1.ServiceReference) {
	concerned := func(r explain.MatchRule) bool {
		return slices.ContainsFunc(r.Operations, func(o string) bool { return o == "*" || o == "UPDATE" || o == "DELETE" })
	}
	if !slices.ContainsFunc(h.Match.Rules, concerned) || h.Webhook == "" && len(h.Bindings) == 0 {
		return
	}
	if service != nil {
		h.Unreachable = a.unreachable(ctx, graph.Key{
			Collection: "services", Namespace: service.Namespace, Name: service.Name,
		})
	}
	a.found = append(a.found, h)
}

// unreachable says why the server can't call a service; empty if it can, or if that can't be told.
func (a *hooks) unreachable(ctx context.Context, service graph.Key) string {
	if why, ok := a.reach[service]; ok {
		return why
	}
	why := ""
	name := "service " + service.Namespace + "/" + service.Name
	switch res := a.d.Named(service.Collection); {
	case res == nil || !res.Listed || res.Unknown != "":
	case a.objects[service] == nil:
		why = name + " does not exist"
	case a.empty(ctx, res, service):
		why = name + " has no ready endpoints"
	}
	a.reach[service] = why
	return why
}

// empty reports whether a service certainly has no endpoint that is ready. One of type ExternalName has none here.
func (a *hooks) empty(ctx context.Context, services *Resource, service graph.Key) bool {
	var s corev1.Service
	err := a.c.getJSON(ctx, services.path(service.Namespace)+"/"+service.Name, nil, &s)
	slices := a.d.Named("endpointslices.discovery.k8s.io")
	if err != nil || slices == nil || s.Spec.Type == corev1.ServiceTypeExternalName {
		return false
	}
	var list discoveryv1.EndpointSliceList
	query := map[string][]string{"labelSelector": {discoveryv1.LabelServiceName + "=" + service.Name}}
	if a.c.getJSON(ctx, slices.path(service.Namespace), query, &list) != nil {
		return false
	}
	for _, slice := range list.Items {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				return false
			}
		}
	}
	return true
}

func fails[T ~string](policy *T) bool { return policy == nil || *policy == T(admissionv1.Fail) }

// denying are what the bindings of a policy match that deny.
func denying(all []admissionv1.ValidatingAdmissionPolicyBinding, policy string) (found []explain.Match) {
	for i := range all {
		b := &all[i].Spec
		if b.PolicyName == policy && slices.Contains(b.ValidationActions, admissionv1.Deny) {
			found = append(found, matchNamed(b.MatchResources))
		}
	}
	return found
}

func match(all []admissionv1.RuleWithOperations, namespaces, objects *metav1.LabelSelector) explain.Match {
	m := explain.Match{Namespaces: requirements(namespaces), Objects: requirements(objects)}
	for i := range all {
		m.Rules = append(m.Rules, rule(&all[i]))
	}
	return m
}

func matchNamed(m *admissionv1.MatchResources) explain.Match {
	if m == nil {
		return explain.Match{}
	}
	named := func(all []admissionv1.NamedRuleWithOperations) (rules []explain.MatchRule) {
		for i := range all {
			r := rule(&all[i].RuleWithOperations)
			r.Names = all[i].ResourceNames
			rules = append(rules, r)
		}
		return rules
	}
	return explain.Match{
		Rules: named(m.ResourceRules), Excluded: named(m.ExcludeResourceRules),
		Namespaces: requirements(m.NamespaceSelector), Objects: requirements(m.ObjectSelector),
	}
}

func rule(r *admissionv1.RuleWithOperations) explain.MatchRule {
	out := explain.MatchRule{Groups: r.APIGroups, Versions: r.APIVersions, Resources: r.Resources}
	for _, o := range r.Operations {
		out.Operations = append(out.Operations, string(o))
	}
	if r.Scope != nil {
		out.Scope = string(*r.Scope)
	}
	return out
}

// requirements are those of a label selector.
func requirements(s *metav1.LabelSelector) (all []explain.Requirement) {
	if s == nil {
		return nil
	}
	for key, value := range s.MatchLabels { // all must hold, so that their order doesn't matter
		all = append(all, explain.Requirement{Key: key, Operator: "In", Values: []string{value}})
	}
	for _, e := range s.MatchExpressions {
		all = append(all, explain.Requirement{Key: e.Key, Operator: string(e.Operator), Values: e.Values})
	}
	return all
}
