package cluster

import (
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// TestHooks reads webhooks and policies: those that may deny updates or deletions, with why a service can't be reached.
// Nothing is claimed of a service whose endpoints can't be read, or that may be elsewhere.
func TestHooks(t *testing.T) {
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
			webhook("secret", "DELETE") + `,` + webhook("external", "DELETE") + `,` + webhook("gone", "DELETE") + `,` +
			webhook("creations", "CREATE") + `]}]}`,
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
	i := slices.IndexFunc(got.Resources, func(r explain.Resource) bool { return r.Name() == mutatingWebhooks })
	if i < 0 || got.Resources[i].Unknown != "you may not list them" {
		t.Errorf("%+v", got.Resources)
	}
}
