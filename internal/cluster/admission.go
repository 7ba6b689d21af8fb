package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// The Names of the resources that configure admission, and of that which has the endpoints of services.
const (
	ValidatingWebhooks = "validatingwebhookconfigurations.admissionregistration.k8s.io"
	mutatingWebhooks   = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	policies           = "validatingadmissionpolicies.admissionregistration.k8s.io"
	policyBindings     = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
	endpointSlices     = "endpointslices.discovery.k8s.io"
)

// admission are the objects that configure admission and may deny updates or deletions. Mutating policies are not among
// them: none is asked about a deletion (M-20). Mutating webhooks have the same fields as validating ones, as far as they
// matter here.
type admission struct {
	validating, mutating admissionv1.ValidatingWebhookConfigurationList
	policies             admissionv1.ValidatingAdmissionPolicyList
	bindings             admissionv1.ValidatingAdmissionPolicyBindingList
}

// hooks are those that may be asked about updates or deletions. unreachable returns why the server can't call a service;
// "" if it can, or if that isn't known.
func (a *admission) hooks(unreachable func(graph.Key) string) (all []explain.Hook) {
	for kind, configurations := range map[string]admissionv1.ValidatingWebhookConfigurationList{
		"ValidatingWebhookConfiguration": a.validating, "MutatingWebhookConfiguration": a.mutating,
	} {
		for i := range configurations.Items {
			for j := range configurations.Items[i].Webhooks {
				w := &configurations.Items[i].Webhooks[j]
				h := explain.Hook{
					Kind: kind, Name: configurations.Items[i].Name, Webhook: w.Name,
					Match:       match(w.Rules, w.NamespaceSelector, w.ObjectSelector),
					Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
				}
				if s := w.ClientConfig.Service; s != nil && slices.ContainsFunc(h.Match.Rules, concerned) {
					h.Unreachable = unreachable(graph.Key{Collection: "services", Namespace: s.Namespace, Name: s.Name})
				}
				all = append(all, h)
			}
		}
	}
	for i := range a.policies.Items {
		p := &a.policies.Items[i]
		h := explain.Hook{
			Kind: "ValidatingAdmissionPolicy", Name: p.Name, Match: matchNamed(p.Spec.MatchConstraints),
			Bindings: denying(a.bindings.Items, p.Name), Conditional: len(p.Spec.MatchConditions) > 0,
			Fails: fails(p.Spec.FailurePolicy),
		}
		if len(h.Bindings) > 0 {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b explain.Hook) int { return cmp.Compare(b.Kind, a.Kind) })
	return slices.DeleteFunc(all, func(h explain.Hook) bool { return !slices.ContainsFunc(h.Match.Rules, concerned) })
}

// concerned: the rule is for updates or deletions.
func concerned(r explain.MatchRule) bool {
	return slices.ContainsFunc(r.Operations, func(o string) bool { return o == "*" || o == "UPDATE" || o == "DELETE" })
}

// ready reports whether a service may have an endpoint that is ready. One of type ExternalName has none in the cluster.
func ready(s *corev1.Service, all []discoveryv1.EndpointSlice) bool {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return true
	}
	return slices.ContainsFunc(all, func(slice discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
			return e.Conditions.Ready == nil || *e.Conditions.Ready
		})
	})
}

// unavailable reads which API services are not available.
func (r *reader) unavailable(ctx context.Context, got *explain.Cluster) error {
	res := r.d.Named(apiServices)
	if res == nil || !res.Listed || res.Unknown != "" {
		return nil
	}
	var list apiregistrationv1.APIServiceList
	if err := r.from.Whole(ctx, res, Selector{}, &list); err != nil {
		return err
	}
	for i := range list.Items {
		s := &list.Items[i]
		for _, c := range s.Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse {
				got.Unavailable = append(slices.DeleteFunc(got.Unavailable, func(u explain.Unavailable) bool {
					return u.Name == s.Name
				}), explain.Unavailable{Name: s.Name, Message: c.Message})
			}
		}
	}
	return nil
}

// admission reads the webhooks and policies. A list that was rejected is in the result as such already.
func (r *reader) admission(ctx context.Context, got *explain.Cluster) error {
	known := map[string]bool{}
	services := map[graph.Key]bool{}
	for i := range got.Objects {
		k := got.Objects[i].Key
		known[k.Collection] = true
		if k.Collection == "services" {
			services[k] = true
		}
	}
	a := &admission{}
	for name, into := range map[string]any{
		ValidatingWebhooks: &a.validating, mutatingWebhooks: &a.mutating, policies: &a.policies, policyBindings: &a.bindings,
	} {
		if !known[name] {
			continue
		}
		if err := r.from.Whole(ctx, r.d.Named(name), Selector{}, into); err != nil && code(err) == 0 {
			return fmt.Errorf("list of %s: %w", name, err)
		}
	}
	reasons := map[graph.Key]string{}
	got.Hooks = a.hooks(func(service graph.Key) string {
		why, ok := reasons[service]
		if ok {
			return why
		}
		switch res := r.d.Named(service.Collection); {
		case res == nil || !res.Listed || res.Unknown != "":
		case !services[service]:
			why = "service " + service.Namespace + "/" + service.Name + " does not exist"
		case r.unready(ctx, res, service):
			why = "service " + service.Namespace + "/" + service.Name + " has no ready endpoints"
		}
		reasons[service] = why
		return why
	})
	return ctx.Err()
}

// unready reports whether a service certainly has no endpoint that is ready.
func (r *reader) unready(ctx context.Context, services *Resource, service graph.Key) bool {
	slices := r.d.Named(endpointSlices)
	if slices == nil {
		return false
	}
	var all corev1.ServiceList
	var endpoints discoveryv1.EndpointSliceList
	if r.from.Whole(ctx, services, Selector{Namespace: service.Namespace}, &all) != nil ||
		r.from.Whole(ctx, slices, Selector{
			Namespace: service.Namespace, Labels: discoveryv1.LabelServiceName + "=" + service.Name,
		}, &endpoints) != nil {
		return false
	}
	for i := range all.Items {
		if s := &all.Items[i]; s.Name == service.Name {
			return !ready(s, endpoints.Items)
		}
	}
	return false
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
