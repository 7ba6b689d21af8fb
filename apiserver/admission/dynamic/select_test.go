package dynamic_test

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// called sends a request, which must have the code, and reports whether webhooks were called for it.
func (c *cluster) called(code int, method, path string, body any, header ...string) bool {
	c.t.Helper()
	c.hook.Seen()
	c.want(code, method, path, body, header...)
	return len(c.hook.Seen()) > 0
}

// TestNamespaceSelector: a namespaceSelector matches the stored labels of the namespace. For a namespace that is
// created or changed, it matches the new labels. It has no effect on other cluster-scoped objects (L-37, L-39, L-S12).
func TestNamespaceSelector(t *testing.T) {
	c := start(t)
	const namespaces = "/api/v1/namespaces"
	c.want(201, "POST", namespaces, `{"metadata":{"name":"n"}}`)
	c.register("Validating", "v", "/", rule("*", "*", "*", "configmaps namespaces clusterroles"),
		`"namespaceSelector":{"matchLabels":{"hooked":"yes"}}`)
	const in = namespaces + "/n/configmaps"
	label := func(value string) string { return `{"metadata":{"labels":{"hooked":` + value + `}}}` }
	for _, step := range []struct {
		asked              bool
		code               int
		method, path, body string
	}{
		{false, 201, "POST", in, `{"metadata":{"name":"a"}}`},
		{true, 200, "PATCH", namespaces + "/n", label(`"yes"`)},
		{true, 201, "POST", in, `{"metadata":{"name":"b"}}`},
		{false, 200, "PATCH", namespaces + "/n", label("null")},
		{false, 201, "POST", in, `{"metadata":{"name":"c"}}`},
		{true, 201, "POST", namespaces, `{"metadata":{"name":"o","labels":{"hooked":"yes"}}}`},
		{true, 200, "DELETE", namespaces + "/o", ""},
		{false, 200, "DELETE", namespaces + "/n", ""},
		{true, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"r"}}`},
	} {
		if got := c.called(step.code, step.method, step.path, step.body); got != step.asked {
			t.Errorf("%s %s %s: asked %v", step.method, step.path, step.body, got)
		}
	}
	c.register("Validating", "w", "/", rule("CREATE", "", "v1", "secrets"), `"namespaceSelector":{"matchExpressions":`+
		`[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["default"]}]}`)
	if c.called(201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`) {
		t.Error("asked about the excluded namespace")
	}
}

// TestObjectSelector: an objectSelector matches the labels of the new or of the old object. For a mutating webhook, the
// new object has the changes of the webhooks before it (L-40, L-S07, L-S13).
func TestObjectSelector(t *testing.T) {
	c := start(t)
	c.register("Validating", "v", "/", rule("*", "", "v1", "configmaps"), `"objectSelector":{"matchLabels":{"a":"b"}}`)
	if c.called(201, "POST", maps, `{"metadata":{"name":"m"}}`) {
		t.Error("asked without the label")
	}
	if !c.called(200, "PATCH", maps+"/m", `{"metadata":{"labels":{"a":"b"}}}`) ||
		!c.called(200, "PATCH", maps+"/m", `{"metadata":{"labels":null}}`) {
		t.Error("not asked with the label on one side")
	}
	if c.called(200, "PATCH", maps+"/m", `{"data":{"a":"b"}}`) {
		t.Error("asked without the label on both sides")
	}
	c.want(200, "DELETE", hookConfigs+"validatingwebhookconfigurations/v", nil)

	c.hook.ScriptPath("/first", patch(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`))
	rules := rule("CREATE", "", "v1", "configmaps")
	c.want(201, "POST", hookConfigs+"mutatingwebhookconfigurations", c.configuration("Mutating", "m",
		c.webhook("z", "/first", rules),
		c.webhook("a", "/second", rules, `"objectSelector":{"matchLabels":{"a":"b"}}`)))
	c.hook.Seen()
	c.want(201, "POST", maps, `{"metadata":{"name":"n"}}`)
	if got := c.calls(); !slices.Equal(got, []string{"/first", "/second"}) {
		t.Errorf("calls %v", got)
	}
	c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/m", nil)
	c.register(
		"Validating", "exec", "/", rule("CONNECT", "", "v1", "pods/exec"), `"objectSelector":{"matchLabels":{"a":"b"}}`)
	if c.called(404, "POST", pods+"/p/exec", nil) {
		t.Error("asked about an object without metadata")
	}
}

// TestMatchConditions: a false condition excludes the webhook. If a condition fails, the failure policy decides whether
// the request is denied or the webhook excluded (L-41 to L-44, L-S14).
func TestMatchConditions(t *testing.T) {
	c := start(t)
	c.want(201, "POST", maps, `{"metadata":{"name":"old","labels":{"a":"b"}}}`)
	for _, test := range []struct {
		policy     string
		conditions []string
		method     string
		code       int
		asked      bool
	}{
		{"Fail", []string{"true"}, "POST", 201, true},
		{"Fail", []string{"false"}, "POST", 201, false},
		{"Fail", []string{"true", "false"}, "POST", 201, false},
		{"Fail", []string{"object.foo == 'x'"}, "POST", 403, false},
		{"Fail", []string{"object.foo == 'x'", "false"}, "POST", 201, false},
		{"Ignore", []string{"object.foo == 'x'"}, "POST", 201, false},
		{"Ignore", []string{"object.foo == 'x'", "true"}, "POST", 201, false},
		{"Fail", []string{"request.userInfo.username == 'system:unsecured'", "request.operation == 'CREATE'",
			"request.namespace == 'default' && request.name == 'm'", "oldObject == null"}, "POST", 201, true},
		{"Fail", []string{"request.options.kind == 'DeleteOptions' && object == null && oldObject.metadata.labels.a == 'b'"},
			"DELETE", 200, true},
		{"Fail", []string{"authorizer.group('').resource('pods').check('get').allowed()",
			"authorizer.requestResource.check('delete').allowed()"}, "POST", 201, true},
		{"Fail", []string{"namespaceObject == null"}, "POST", 201, true},
	} {
		var all []admissionv1.MatchCondition
		for i, e := range test.conditions {
			all = append(all, admissionv1.MatchCondition{Name: string(rune('a' + i)), Expression: e})
		}
		c.register("Validating", "v", "/", rule("*", "", "v1", "configmaps"), `"failurePolicy":"`+test.policy+`"`,
			`"matchConditions":`+encode(all))
		path, body := maps, any(`{"metadata":{"name":"m"}}`)
		if test.method == "DELETE" {
			path, body = maps+"/old", nil
		}
		if got := c.called(test.code, test.method, path, body); got != test.asked {
			t.Errorf("%s %v: asked %v", test.policy, test.conditions, got)
		}
		c.want(200, "DELETE", hookConfigs+"validatingwebhookconfigurations/v", nil)
		c.Do("DELETE", maps+"/m", nil)
	}
	c.register("Validating", "v", "/", rule("*", "", "v1", "configmaps"),
		`"matchConditions":[{"name":"a","expression":"object.foo == 'x'"}]`)
	c.says(c.want(403, "POST", maps, `{"metadata":{"name":"m"}}`),
		`configmaps "m" is forbidden: expression 'object.foo == 'x'' resulted in error: no such key: foo`)
}

// TestWebhookWithSideEffectsIsNotCalledInADryRun: one without side effects is called (L-60, L-S15).
func TestWebhookWithSideEffectsIsNotCalledInADryRun(t *testing.T) {
	c := start(t)
	c.register("Validating", "v", "/", rule("*", "", "v1", "configmaps"))
	c.want(201, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`)
	seen := c.hook.Seen()
	if len(seen) != 1 || !*seen[0].Review.Request.DryRun ||
		!strings.Contains(string(seen[0].Review.Request.Options.Raw), `"dryRun":["All"]`) {
		t.Errorf("%d calls, %s", len(seen), seen[0].Body)
	}
	c.want(404, "GET", maps+"/m", nil)
	stored := c.want(200, "GET", hookConfigs+"validatingwebhookconfigurations/v", nil).Object()
	data, err := stored.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"sideEffects":"None"`, `"sideEffects":"Some"`, 1)
	text = strings.Replace(text, `"failurePolicy":"Fail"`, `"failurePolicy":"Ignore"`, 1)
	c.Put(t, storage.DefaultRoot+"/validatingwebhookconfigurations/v", text)
	c.says(c.want(400, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`),
		`admission webhook "v.example.com" does not support dry run`)
	if got := c.calls(); len(got) > 0 {
		t.Errorf("calls %v", got)
	}
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
}
