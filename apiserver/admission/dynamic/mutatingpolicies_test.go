package dynamic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mutating returns the fields of a policy with the expressions as mutations. An expression that begins with "[" is a
// list of JSON patches.
func mutating(reinvoke string, expressions ...string) string {
	var list []map[string]any
	for _, e := range expressions {
		kind, name := "ApplyConfiguration", "applyConfiguration"
		if strings.HasPrefix(e, "[") {
			kind, name = "JSONPatch", "jsonPatch"
		}
		list = append(list, map[string]any{"patchType": kind, name: map[string]string{"expression": e}})
	}
	return `"reinvocationPolicy":"` + reinvoke + `","mutations":` + encode(list)
}

func label(key, value string) string {
	return fmt.Sprintf("Object{metadata: Object.metadata{labels: {%q: %q}}}", key, value)
}

// TestPoliciesAreReinvokedAfterAChange: policies are evaluated in the order of their names. A policy with
// reinvocationPolicy IfNeeded is evaluated once more after a change of the object (M-66, M-67).
func TestPoliciesAreReinvokedAfterAChange(t *testing.T) {
	c := start(t)
	count := func(letter string) string {
		return "Object{metadata: Object.metadata{annotations: {'order': object.metadata.?annotations[?'order'].orValue('')" +
			" + '" + letter + "'}}}"
	}
	c.hook.ScriptPath("/change", patch(`[{"op":"add","path":"/metadata/labels","value":{"h":"1"}}]`))
	for _, test := range []struct {
		name     string
		policies []string // each a name and its reinvocationPolicy
		webhook  bool
		want     string
	}{
		{"as upstream's example", []string{"c=IfNeeded", "b=IfNeeded", "d=Never"}, false, "bcdbc"},
		{"alone", []string{"a=IfNeeded"}, false, "aa"},
		{"never", []string{"a=Never"}, false, "a"},
		{"never, with a webhook", []string{"a=Never"}, true, "a"},
		{"with a webhook", []string{"a=IfNeeded", "b=Never"}, true, "aba"},
	} {
		for _, p := range test.policies {
			name, reinvoke, _ := strings.Cut(p, "=")
			c.policy("Mutating", name, rule("CREATE", "", "v1", "pods"), mutating(reinvoke, count(name)))
			c.bind("Mutating", name)
		}
		if test.webhook {
			c.register("Mutating", "h", "/change", rule("CREATE", "", "v1", "pods"))
		}
		if got := c.want(201, "POST", pods+"?dryRun=All", pod("p")).Object().GetAnnotations()["order"]; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		for _, p := range test.policies {
			name, _, _ := strings.Cut(p, "=")
			c.remove("Mutating", name)
		}
		if test.webhook {
			c.want(http.StatusOK, "DELETE", hookConfigs+"mutatingwebhookconfigurations/h", nil)
		}
	}
}

// TestReinvokedForWebhook: after a webhook's change, a policy is not evaluated in the second round if its conditions
// were false in the first. It is evaluated if a test operation of its JSON patch failed in the first.
func TestReinvokedForWebhook(t *testing.T) {
	c := start(t)
	c.hook.ScriptPath("/change", patch(`[{"op":"add","path":"/metadata/labels","value":{"h":"1"}}]`))
	c.register("Mutating", "h", "/change", rule("CREATE", "", "v1", "pods"))
	c.policy("Mutating", "late", rule("CREATE", "", "v1", "pods"),
		`"matchConditions":[{"name":"c","expression":"has(object.metadata.labels) && 'h' in object.metadata.labels"}]`,
		mutating("IfNeeded", label("late", "1")))
	c.bind("Mutating", "late")
	c.policy("Mutating", "waits", rule("CREATE", "", "v1", "pods"), mutating("IfNeeded",
		"[JSONPatch{op: 'test', path: '/metadata/labels', value: {'h': '1'}},"+
			"JSONPatch{op: 'add', path: '/metadata/labels/waited', value: '1'}]"))
	c.bind("Mutating", "waits")
	got := c.want(201, "POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`).
		Object().GetLabels()
	if d := cmp.Diff(map[string]string{"h": "1", "waited": "1"}, got); d != "" {
		t.Error(d)
	}
}

// TestJSONPatchHasAMapOfParams: params of a built-in kind are values of JSON, too.
func TestJSONPatchHasAMapOfParams(t *testing.T) {
	c := start(t)
	c.want(201, "POST", maps, `{"metadata":{"name":"params"},"data":{"a":"b"}}`)
	c.policy("Mutating", "p", rule("CREATE", "", "v1", "pods"), `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`,
		mutating("Never", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: params.data}]"))
	c.bind("Mutating", "p", `"paramRef":{"name":"params","namespace":"default","parameterNotFoundAction":"Deny"}`)
	if got := c.want(201, "POST", pods, pod("p")).Object().GetAnnotations()["a"]; got != "b" {
		t.Errorf("annotation %q", got)
	}
}
