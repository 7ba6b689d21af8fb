package dynamic_test

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

const (
	authn = "/apis/authentication.k8s.io/v1/"
	authz = "/apis/authorization.k8s.io/v1/"
)

// TestVirtualKinds: webhooks are not called for reviews, which are not stored, even if their rules match (L-24, V-105).
func TestVirtualKinds(t *testing.T) {
	c := start(t)
	c.hook.Script(webhooktest.Respond(&admissionv1.AdmissionResponse{Result: deny(403, "Forbidden", "no")}))
	c.register("Mutating", "m", "/mutate", rule("CREATE", "*", "*", "*/*"))
	c.register("Validating", "v", "/validate", rule("CREATE", "*", "*", "*/*"))
	c.register("Validating", "n", "/named", rule("CREATE", "authentication.k8s.io", "v1", "tokenreviews"))
	const access = `"resourceAttributes":{"verb":"get","resource":"pods","namespace":"absent"}`
	for _, test := range []struct{ path, valid string }{
		{authn + "tokenreviews", `{"spec":{"token":"x"}}`},
		{authn + "selfsubjectreviews", `{}`},
		{authz + "subjectaccessreviews", `{"spec":{"user":"u",` + access + `}}`},
		{authz + "namespaces/absent/localsubjectaccessreviews", `{"spec":{"user":"u",` + access + `}}`},
		{authz + "selfsubjectaccessreviews", `{"spec":{` + access + `}}`},
		{authz + "selfsubjectrulesreviews", `{"spec":{"namespace":"n"}}`},
	} {
		c.want(201, "POST", test.path, test.valid)
		if got := c.calls(); len(got) > 0 {
			t.Errorf("%s: calls %v", test.path, got)
		}
	}
	c.want(403, "POST", maps, `{"metadata":{"name":"a"}}`)
}

// TestWebhooksGetNoConfigurations: no webhook is called for configurations of webhooks and policies, so that users can
// remove them (L-23, L-S06).
func TestWebhooksGetNoConfigurations(t *testing.T) {
	c := start(t)
	c.hook.Script(webhooktest.Respond(&admissionv1.AdmissionResponse{Result: deny(403, "Forbidden", "no")}))
	c.register("Validating", "v", "/", rule("*", "*", "*", "*/*"))
	c.register("Mutating", "m", "/", rule("*", "*", "*", "*/*"))
	c.want(403, "POST", maps, `{"metadata":{"name":"a"}}`)
	c.hook.Seen()
	for _, policy := range []struct{ path, body string }{
		{"validatingadmissionpolicies", `{"metadata":{"name":"a"},"spec":{"matchConstraints":{"resourceRules":[` +
			rule("CREATE", "", "v1", "pods") + `]},"validations":[{"expression":"true"}]}}`},
		{"validatingadmissionpolicybindings",
			`{"metadata":{"name":"a"},"spec":{"policyName":"a","validationActions":["Deny"]}}`},
		{"mutatingadmissionpolicies", `{"metadata":{"name":"a"},"spec":{"reinvocationPolicy":"Never",` +
			`"matchConstraints":{"resourceRules":[` + rule("CREATE", "", "v1", "pods") + `]},` +
			`"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":` +
			`"[JSONPatch{op: \"remove\", path: \"/metadata/labels\"}]"}}]}}`},
		{"mutatingadmissionpolicybindings", `{"metadata":{"name":"a"},"spec":{"policyName":"a"}}`},
	} {
		c.want(201, "POST", hookConfigs+policy.path, policy.body)
		c.want(200, "PATCH", hookConfigs+policy.path+"/a", `{"metadata":{"labels":{"a":"b"}}}`)
		c.want(200, "DELETE", hookConfigs+policy.path+"/a", nil)
	}
	c.want(200, "PATCH", hookConfigs+"mutatingwebhookconfigurations/m", `{"metadata":{"labels":{"a":"b"}}}`)
	c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/m", nil)
	c.want(200, "DELETE", hookConfigs+"validatingwebhookconfigurations", nil)
	if got := c.calls(); len(got) > 0 {
		t.Errorf("calls %v", got)
	}
	c.want(201, "POST", maps, `{"metadata":{"name":"a"}}`)
}

// TestOnlyTheWholeRequestIsAdmitted: the changes that an eviction or a binding makes to the pod are not admitted
// separately (L-18, L-19, L-S05).
func TestOnlyTheWholeRequestIsAdmitted(t *testing.T) {
	c := start(t)
	for _, name := range []string{"evicted", "bound", "other"} {
		c.want(201, "POST", pods, pod(name))
	}
	c.want(201, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"a"}}`)
	c.register("Validating", "pods", "/pods", rule("*", "", "v1", "pods"))
	c.register("Validating", "subs", "/subs", rule("*", "*", "*", "pods/* bindings"))
	c.register("Mutating", "tokens", "/subs", rule("*", "*", "*", "serviceaccounts/*"))
	for _, test := range []struct {
		path, body string
		code       int
		want       string
	}{
		{pods + "/evicted/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted"}}`, 201,
			"CREATE Eviction pods/eviction evicted default new CreateOptions"},
		{pods + "/bound/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"bound"},"target":{"name":"n"}}`,
			201, "CREATE Binding pods/binding bound default new CreateOptions"},
		{"/api/v1/namespaces/default/bindings", `{"metadata":{"name":"other"},"target":{"name":"n"}}`, 201,
			"CREATE Binding bindings other default new CreateOptions"},
		{"/api/v1/namespaces/default/serviceaccounts/a/token", `{"spec":{"audiences":["a"]}}`, 501,
			"CREATE TokenRequest serviceaccounts/token a default new CreateOptions"}, // there is no key to sign with
	} {
		c.hook.Seen()
		c.want(test.code, "POST", test.path, test.body)
		var got []string
		for _, s := range c.hook.Seen() {
			if s.Path != "/subs" && s.Path != "/pods" ||
				s.Review.Request.Resource.Resource == "pods" && s.Review.Request.SubResource == "" {
				t.Errorf("%s: called %s about %s", test.path, s.Path, summary(s.Review.Request))
			}
			got = append(got, summary(s.Review.Request))
		}
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s:\n  got %v\n want %s", test.path, got, test.want)
		}
	}
}
