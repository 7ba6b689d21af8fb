package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// whole reads objects of the resource with the Name. Those that can't be decoded are left out. The error of a resource
// that is not known, or of a list that is rejected, has a code.
func whole[T any](ctx context.Context, r *reader, name string, s Selector) (all []T, err error) {
	res := r.d.Named(name)
	if res == nil || !res.Listed || res.Unknown != "" {
		return nil, apierrors.NewServiceUnavailable(name + " are not known")
	}
	s.Whole = true
	err = r.from.List(ctx, res, s, func(_ *explain.Object, object []byte) {
		var one T
		if json.Unmarshal(object, &one) == nil {
			all = append(all, one)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", name, err)
	}
	return all, nil
}

// known returns nil for an error with a code: the result already shows resources that the server rejects as not known.
func known(err error) error {
	if code(err) != 0 {
		return nil
	}
	return err
}

// unavailable reads which API services are not available.
func (r *reader) unavailable(ctx context.Context, got *explain.Cluster) error {
	all, err := whole[apiregistrationv1.APIService](ctx, r, apiServices, Selector{})
	for i := range all {
		for _, c := range all[i].Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse {
				got.Unavailable = append(slices.DeleteFunc(got.Unavailable, func(u explain.Unavailable) bool {
					return u.Name == all[i].Name
				}), explain.Unavailable{Name: all[i].Name, Message: c.Message})
			}
		}
	}
	return known(err)
}

// serviceIPs adds to each IPAddress of the API server's allocator the ServiceCIDRs that contain its address (F-16).
// Network and broadcast addresses also count, although no Service has them.
func (r *reader) serviceIPs(ctx context.Context, got *explain.Cluster) error {
	all, err := whole[networkingv1.ServiceCIDR](ctx, r, ranges, Selector{})
	for _, o := range got.Objects {
		if o.Collection != serviceIPs || o.Labels[networkingv1.LabelManagedBy] != "ipallocator.k8s.io" {
			continue
		}
		ip, err := netip.ParseAddr(o.Name)
		if err != nil {
			continue
		}
		var has []graph.Key
		for _, c := range all {
			if slices.ContainsFunc(c.Spec.CIDRs, func(cidr string) bool {
				p, err := netip.ParsePrefix(cidr)
				return err == nil && p.Contains(ip)
			}) {
				has = append(has, graph.Key{Collection: ranges, Name: c.Name})
			}
		}
		o.Uses = [][]graph.Key{has}
	}
	return known(err)
}

// admission reads the webhooks and policies that may deny updates or deletions. Mutating policies are not among them:
// none gets deletions (M-20).
func (r *reader) admission(ctx context.Context, got *explain.Cluster) error {
	r.reasons = map[Selector]string{}
	return cmp.Or(r.webhooks(ctx, got, "ValidatingWebhookConfiguration"), r.policies(ctx, got),
		r.webhooks(ctx, got, "MutatingWebhookConfiguration"), ctx.Err())
}

// webhooks reads the webhooks of a kind of configurations. Mutating ones have the same fields as validating ones, as
// far as they matter here.
func (r *reader) webhooks(ctx context.Context, got *explain.Cluster, kind string) error {
	name := strings.ToLower(kind) + "s.admissionregistration.k8s.io"
	all, err := whole[admissionv1.ValidatingWebhookConfiguration](ctx, r, name, Selector{})
	for i := range all {
		for j := range all[i].Webhooks {
			w := &all[i].Webhooks[j]
			m := &matcher{namespaces: selector(w.NamespaceSelector), objects: selector(w.ObjectSelector)}
			for _, rule := range w.Rules {
				m.rules = append(m.rules, admissionv1.NamedRuleWithOperations{RuleWithOperations: rule})
			}
			h := explain.Hook{
				Kind: kind, Name: all[i].Name, Webhook: w.Name, Matches: m.matches,
				Conditional: len(w.MatchConditions) > 0, Fails: fails(w.FailurePolicy),
			}
			if s := w.ClientConfig.Service; s != nil {
				h.Unreachable = r.unreachable(ctx, Selector{Namespace: s.Namespace, Name: s.Name})
			}
			got.Hooks = append(got.Hooks, h)
		}
	}
	return known(err)
}

// policies reads the policies that have a binding which denies.
func (r *reader) policies(ctx context.Context, got *explain.Cluster) error {
	const name = "validatingadmissionpolicies.admissionregistration.k8s.io"
	all, err := whole[admissionv1.ValidatingAdmissionPolicy](ctx, r, name, Selector{})
	if len(all) == 0 {
		return known(err)
	}
	bindings, err := whole[admissionv1.ValidatingAdmissionPolicyBinding](
		ctx, r, "validatingadmissionpolicybindings.admissionregistration.k8s.io", Selector{})
	for i := range all {
		p, m := &all[i], newMatcher(all[i].Spec.MatchConstraints)
		var denying []*matcher
		for _, b := range bindings {
			if b.Spec.PolicyName == p.Name && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny) {
				denying = append(denying, newMatcher(b.Spec.MatchResources))
			}
		}
		if len(denying) > 0 {
			got.Hooks = append(got.Hooks, explain.Hook{
				Kind: "ValidatingAdmissionPolicy", Name: p.Name, Conditional: len(p.Spec.MatchConditions) > 0,
				Fails: fails(p.Spec.FailurePolicy), Matches: func(q *explain.Request) bool {
					return m.matches(q) && slices.ContainsFunc(denying, func(b *matcher) bool { return b.matches(q) })
				},
			})
		}
	}
	return known(err)
}

func fails[T ~string](policy *T) bool { return policy == nil || *policy == T(admissionv1.Fail) }

// unreachable returns the reason why the server can't call a service; "" if it can, or if that isn't known.
func (r *reader) unreachable(ctx context.Context, service Selector) string {
	why, ok := r.reasons[service]
	if !ok {
		if why = r.unready(ctx, service); why != "" {
			why = "service " + service.Namespace + "/" + service.Name + " " + why
		}
		r.reasons[service] = why
	}
	return why
}

// unready returns the problem of a service; "" if it may have a ready endpoint. One of type ExternalName has none in
// the cluster.
func (r *reader) unready(ctx context.Context, service Selector) string {
	all, err := whole[corev1.Service](ctx, r, "services", Selector{Namespace: service.Namespace})
	i := slices.IndexFunc(all, func(s corev1.Service) bool { return s.Name == service.Name })
	switch {
	case err != nil:
		return ""
	case i < 0:
		return "does not exist"
	case all[i].Spec.Type == corev1.ServiceTypeExternalName:
		return ""
	}
	endpoints, err := whole[discoveryv1.EndpointSlice](ctx, r, "endpointslices.discovery.k8s.io", Selector{
		Namespace: service.Namespace, Labels: discoveryv1.LabelServiceName + "=" + service.Name,
	})
	if err != nil || slices.ContainsFunc(endpoints, func(slice discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
			return e.Conditions.Ready == nil || *e.Conditions.Ready
		})
	}) {
		return ""
	}
	return "has no ready endpoints"
}

// matcher selects the requests that a webhook, a policy or a binding is for. Without rules it is for all.
type matcher struct {
	rules, excluded     []admissionv1.NamedRuleWithOperations
	namespaces, objects labels.Selector
}

func newMatcher(m *admissionv1.MatchResources) *matcher {
	if m == nil {
		m = &admissionv1.MatchResources{}
	}
	return &matcher{m.ResourceRules, m.ExcludeResourceRules, selector(m.NamespaceSelector), selector(m.ObjectSelector)}
}

// selector returns the selector of a field. An invalid one, which no server stores, counts as a match.
func selector(s *metav1.LabelSelector) labels.Selector {
	out, err := metav1.LabelSelectorAsSelector(s)
	if s == nil || err != nil {
		return labels.Everything()
	}
	return out
}

// matches reports whether the requests are matched, in any version in which the object is served (L-31 to L-35), as the
// version of a future request isn't known.
func (m *matcher) matches(r *explain.Request) bool {
	has := func(rule admissionv1.NamedRuleWithOperations) bool {
		if len(rule.ResourceNames) > 0 && !slices.Contains(rule.ResourceNames, r.Key.Name) {
			return false
		}
		return slices.ContainsFunc(r.Resource.APIVersions(), func(apiVersion string) bool {
			gv, err := schema.ParseGroupVersion(apiVersion)
			return err == nil && webhook.Target{
				Resource: gv.WithResource(r.Resource.Plural), Subresource: r.Subresource, Namespace: r.Key.Namespace,
				Operation: admissionv1.OperationType(r.Operation),
			}.Matches(&rule.RuleWithOperations)
		})
	}
	return (len(m.rules) == 0 || slices.ContainsFunc(m.rules, has)) && !slices.ContainsFunc(m.excluded, has) &&
		(r.Object == nil || m.objects.Matches(labels.Set(r.Object.Labels))) &&
		(r.Namespace == nil || m.namespaces.Matches(labels.Set(r.Namespace.Labels)))
}
