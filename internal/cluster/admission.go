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

// The Names of the resources that configure admission, and of that which has the endpoints of services.
const (
	ValidatingWebhooks = "validatingwebhookconfigurations.admissionregistration.k8s.io"
	MutatingWebhooks   = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	Policies           = "validatingadmissionpolicies.admissionregistration.k8s.io"
	PolicyBindings     = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
	EndpointSlices     = "endpointslices.discovery.k8s.io"
)

// Admission are the objects that configure admission and may deny updates or deletions. Mutating policies are not among
// them: none is asked about a deletion (M-20).
type Admission struct {
	Validating []admissionv1.ValidatingWebhookConfiguration
	Mutating   []admissionv1.MutatingWebhookConfiguration
	Policies   []admissionv1.ValidatingAdmissionPolicy
	Bindings   []admissionv1.ValidatingAdmissionPolicyBinding
}

// Hooks are those that may be asked about updates or deletions. unreachable says why the server can't call a service;
// it returns "" if the server can, or if that isn't known.
func (a *Admission) Hooks(unreachable func(namespace, name string) string) (all []explain.Hook) {
	add := func(h explain.Hook, service *admissionv1.ServiceReference) {
		if !slices.ContainsFunc(h.Match.Rules, concerned) || h.Webhook == "" && len(h.Bindings) == 0 {
			return
		}
		if service != nil {
			h.Unreachable = unreachable(service.Namespace, service.Name)
		}
		all = append(all, h)
	}
	for i := range a.Validating {
		for j := range a.Validating[i].Webhooks {
			w := &a.Validating[i].Webhooks[j]
			add(explain.Hook{
				Kind: "ValidatingWebhookConfiguration", Name: a.Validating[i].Name, Webhook: w.Name,
				Match:       match(w.Rules, w.NamespaceSelector, w.ObjectSelector),
				Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
			}, w.ClientConfig.Service)
		}
	}
	for i := range a.Mutating {
		for j := range a.Mutating[i].Webhooks {
			w := &a.Mutating[i].Webhooks[j]
			add(explain.Hook{
				Kind: "MutatingWebhookConfiguration", Name: a.Mutating[i].Name, Webhook: w.Name,
				Match:       match(w.Rules, w.NamespaceSelector, w.ObjectSelector),
				Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
			}, w.ClientConfig.Service)
		}
	}
	for i := range a.Policies {
		p := &a.Policies[i]
		add(explain.Hook{
			Kind: "ValidatingAdmissionPolicy", Name: p.Name, Match: matchNamed(p.Spec.MatchConstraints),
			Bindings: denying(a.Bindings, p.Name), Conditional: len(p.Spec.MatchConditions) > 0,
			Fails: fails(p.Spec.FailurePolicy),
		}, nil)
	}
	return all
}

// concerned: the rule is for updates or deletions.
func concerned(r explain.MatchRule) bool {
	return slices.ContainsFunc(r.Operations, func(o string) bool { return o == "*" || o == "UPDATE" || o == "DELETE" })
}

// Absent and Unready are why a server can't call a service: that does not exist, or has no endpoint that is ready.
func Absent(namespace, name string) string {
	return "service " + namespace + "/" + name + " does not exist"
}

// Unready says that the service exists; see Absent.
func Unready(namespace, name string) string {
	return "service " + namespace + "/" + name + " has no ready endpoints"
}

// Ready reports whether a service may have an endpoint that is ready. One of type ExternalName has none in the cluster.
func Ready(s *corev1.Service, all []discoveryv1.EndpointSlice) bool {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return true
	}
	return slices.ContainsFunc(all, func(slice discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
			return e.Conditions.Ready == nil || *e.Conditions.Ready
		})
	})
}

// admission reads the webhooks and policies. A list that was rejected is in the result as such already.
func (r *reader) admission(
	ctx context.Context, d *Discovery, got *explain.Cluster, objects map[graph.Key]*explain.Object,
) error {
	known := map[string]bool{}
	for k := range objects {
		known[k.Collection] = true
	}
	var validating admissionv1.ValidatingWebhookConfigurationList
	var mutating admissionv1.MutatingWebhookConfigurationList
	var all admissionv1.ValidatingAdmissionPolicyList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	for name, into := range map[string]any{
		ValidatingWebhooks: &validating, MutatingWebhooks: &mutating, Policies: &all, PolicyBindings: &bindings,
	} {
		if !known[name] {
			continue
		}
		if err := r.c.getJSON(ctx, d.Named(name).Path(""), nil, into); err != nil && code(err) == 0 {
			return fmt.Errorf("list of %s: %w", name, err)
		}
	}
	s := &services{reader: r, d: d, objects: objects, reach: map[graph.Key]string{}}
	a := &Admission{validating.Items, mutating.Items, all.Items, bindings.Items}
	got.Hooks = a.Hooks(func(namespace, name string) string {
		return s.unreachable(ctx, graph.Key{Collection: "services", Namespace: namespace, Name: name})
	})
	return ctx.Err()
}

// services knows whether the services of webhooks have endpoints.
type services struct {
	*reader
	d       *Discovery
	objects map[graph.Key]*explain.Object
	reach   map[graph.Key]string
}

// unreachable says why the server can't call a service; empty if it can, or if that can't be told.
func (a *services) unreachable(ctx context.Context, service graph.Key) string {
	if why, ok := a.reach[service]; ok {
		return why
	}
	why := ""
	switch res := a.d.Named(service.Collection); {
	case res == nil || !res.Listed || res.Unknown != "":
	case a.objects[service] == nil:
		why = Absent(service.Namespace, service.Name)
	case a.empty(ctx, res, service):
		why = Unready(service.Namespace, service.Name)
	}
	a.reach[service] = why
	return why
}

// empty reports whether a service certainly has no endpoint that is ready.
func (a *services) empty(ctx context.Context, services *Resource, service graph.Key) bool {
	var s corev1.Service
	err := a.c.getJSON(ctx, services.Path(service.Namespace)+"/"+service.Name, nil, &s)
	res := a.d.Named(EndpointSlices)
	if err != nil || res == nil {
		return false
	}
	var list discoveryv1.EndpointSliceList
	query := map[string][]string{"labelSelector": {discoveryv1.LabelServiceName + "=" + service.Name}}
	return a.c.getJSON(ctx, res.Path(service.Namespace), query, &list) == nil && !Ready(&s, list.Items)
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
