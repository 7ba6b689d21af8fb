package cluster

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// TestHooksAreRead reads webhooks and policies that may deny updates or deletions, with the reason why a service can't
// be reached. A service whose endpoints can't be read, or that may be outside the cluster, has no such reason.
func TestHooksAreRead(t *testing.T) {
	group := `{"kind":"APIGroupList","groups":[
		{"name":"admissionregistration.k8s.io","versions":[{"groupVersion":"admissionregistration.k8s.io/v1","version":"v1"}]},
		{"name":"discovery.k8s.io","versions":[{"groupVersion":"discovery.k8s.io/v1","version":"v1"}]}]}`
	resource := func(name, kind, namespaced string) string {
		return `{"name":"` + name + `","kind":"` + kind + `","namespaced":` + namespaced + `,"verbs":["list"]}`
	}
	webhook := func(service, operation string) string {
		return `{"name":"` + service + `","clientConfig":{"service":{"namespace":"ns","name":"` + service + `"}},
			"rules":[{"operations":["` + operation + `"],"resources":["pods"]}]}`
	}
	const admission = "/apis/admissionregistration.k8s.io/v1/"
	const slicesPath = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices?labelSelector=kubernetes.io/service-name="
	c := old(t, map[string]string{
		"/apis":   group,
		"/api/v1": `{"kind":"APIResourceList","resources":[` + resource("services", "Service", "true") + `]}`,
		"/apis/admissionregistration.k8s.io/v1": `{"kind":"APIResourceList","resources":[` +
			resource("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "false") + `,` +
			resource("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "false") + `,` +
			resource("validatingadmissionpolicies", "ValidatingAdmissionPolicy", "false") + `,` +
			resource("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "false") + `]}`,
		"/apis/discovery.k8s.io/v1": `{"kind":"APIResourceList","resources":[` +
			resource("endpointslices", "EndpointSlice", "true") + `]}`,
		"/apis/discovery.k8s.io/v1/endpointslices": list(""),
		"/api/v1/services": list("", item("ns", "ready", ""), item("ns", "unready", ""), item("ns", "none", ""),
			item("ns", "secret", ""), item("ns", "external", "")),
		"/api/v1/namespaces/ns/services": list("", item("ns", "ready", ""), item("ns", "unready", ""), item("ns", "none", ""),
			item("ns", "secret", ""), `{"metadata":{"name":"external"},"spec":{"type":"ExternalName"}}`),
		slicesPath + "ready":    `{"items":[{"endpoints":[{"conditions":{"ready":false}},{}]}]}`,
		slicesPath + "unready":  `{"items":[{"endpoints":[{"conditions":{"ready":false}}]}]}`,
		slicesPath + "none":     `{"items":[]}`,
		slicesPath + "secret":   `403!{"kind":"Status","message":"forbidden"}`,
		slicesPath + "external": `{"items":[]}`,
		admission + "validatingwebhookconfigurations": `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"v","uid":"v"},"webhooks":[` +
			webhook("ready", "DELETE") + `,` + webhook("unready", "*") + `,` + webhook("none", "UPDATE") + `,` +
			webhook("secret", "DELETE") + `,` + webhook("external", "DELETE") + `,` + webhook("gone", "DELETE") + `]}]}`,
		admission + "mutatingwebhookconfigurations":     `403!{"kind":"Status","message":"forbidden"}`,
		admission + "validatingadmissionpolicies":       list("", item("", "p", "")),
		admission + "validatingadmissionpolicybindings": list(""),
	})
	got := read(t, c, Options{})
	var found []string
	for _, h := range got.Hooks {
		if h.Kind != "ValidatingWebhookConfiguration" || h.Name != "v" || !h.Fails {
			t.Errorf("%+v", h)
		}
		found = append(found, h.Webhook+": "+h.Unreachable)
	}
	want := []string{
		"ready: ", "unready: service ns/unready has no ready endpoints", "none: service ns/none has no ready endpoints",
		"secret: ", "external: ", "gone: service ns/gone does not exist",
	}
	if !slices.Equal(found, want) {
		t.Errorf("hooks %q, expected %q", found, want)
	}
	i := slices.IndexFunc(got.Resources, func(r explain.Resource) bool {
		return r.Name() == "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	})
	if i < 0 || got.Resources[i].Unknown != "you may not list them" {
		t.Errorf("%+v", got.Resources)
	}
}

// TestRulesMatchRequests matches requests with rules: by the operation, the group, any served version, the resource,
// the scope, the name and the labels. Objects that aren't known count as a match (L-31 to L-37).
func TestRulesMatchRequests(t *testing.T) {
	pods := &explain.Resource{Versions: []string{"v1"}, Kind: "Pod", Plural: "pods", Namespaced: true}
	namespaces := &explain.Resource{Versions: []string{"v1"}, Kind: "Namespace", Plural: "namespaces"}
	crons := &explain.Resource{Group: "example.com", Versions: []string{"v1", "v1beta1"}, Plural: "crontabs", Namespaced: true}
	pod := explain.Request{
		Resource: pods, Key: graph.Key{Collection: "pods", Namespace: "ns", Name: "p"}, Operation: "DELETE",
		Object: &explain.Object{Labels: map[string]string{"app": "web"}}, Namespace: &explain.Object{},
	}
	namespace := explain.Request{Resource: namespaces, Key: graph.Key{Name: "ns"}, Operation: "UPDATE", Subresource: "finalize"}
	cron := explain.Request{Resource: crons, Key: graph.Key{Namespace: "ns", Name: "c"}, Operation: "DELETE"}
	rule := func(group, version, resource, operation string) admissionv1.NamedRuleWithOperations {
		return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.OperationType(operation)},
			Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
		}}
	}
	all := rule("*", "*", "*", "*")
	scoped := func(s admissionv1.ScopeType) admissionv1.NamedRuleWithOperations {
		r := rule("*", "*", "*/*", "*")
		r.Scope = &s
		return r
	}
	only := func(name string) admissionv1.NamedRuleWithOperations {
		r := all
		r.ResourceNames = []string{name}
		return r
	}
	labelled := func(key string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: "Exists"}}}
	}
	for name, c := range map[string]struct {
		request explain.Request
		match   admissionv1.MatchResources
		want    bool
	}{
		"nothing":               {pod, admissionv1.MatchResources{}, true},
		"the operation":         {pod, with(rule("", "v1", "pods", "DELETE")), true},
		"another operation":     {pod, with(rule("", "v1", "pods", "UPDATE")), false},
		"another group":         {pod, with(rule("apps", "v1", "pods", "*")), false},
		"another version":       {pod, with(rule("", "v2", "pods", "*")), false},
		"one of the versions":   {cron, with(rule("example.com", "v1beta1", "crontabs", "*")), true},
		"one of the rules":      {pod, with(rule("", "v2", "pods", "*"), all), true},
		"no subresource":        {namespace, with(rule("", "v1", "namespaces", "*")), false},
		"the subresource":       {namespace, with(rule("", "v1", "namespaces/finalize", "*")), true},
		"cluster scope":         {pod, with(scoped("Cluster")), false},
		"of a namespace":        {namespace, with(scoped("Cluster")), true},
		"namespaced":            {namespace, with(scoped("Namespaced")), false},
		"the name":              {pod, with(only("p")), true},
		"another name":          {pod, with(only("q")), false},
		"excluded":              {pod, admissionv1.MatchResources{ExcludeResourceRules: with(only("p")).ResourceRules}, false},
		"another excluded":      {pod, admissionv1.MatchResources{ExcludeResourceRules: with(only("q")).ResourceRules}, true},
		"the label":             {pod, admissionv1.MatchResources{ObjectSelector: labelled("app")}, true},
		"another label":         {pod, admissionv1.MatchResources{ObjectSelector: labelled("x")}, false},
		"the namespace's label": {pod, admissionv1.MatchResources{NamespaceSelector: labelled("app")}, false},
		"unknown labels":        {cron, admissionv1.MatchResources{ObjectSelector: labelled("x"), NamespaceSelector: labelled("x")}, true},
	} {
		if got := newMatcher(&c.match).matches(&c.request); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func with(rules ...admissionv1.NamedRuleWithOperations) admissionv1.MatchResources {
	return admissionv1.MatchResources{ResourceRules: rules}
}
