package dynamic_test

import (
	"strings"
	"testing"
)

// TestChangedKind: a patch that changes apiVersion or kind is applied if the result still belongs to the resource.
// Otherwise the request is rejected and nothing is stored (L-85).
func TestChangedKind(t *testing.T) {
	c := start(t)
	c.define()
	const scalers = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
	const custom = "/apis/example.com/v1/namespaces/default/widgets"
	bodies := map[string]string{
		maps: `{"metadata":{"name":"x"}}`,
		scalers: `{"metadata":{"name":"x"},"spec":{"maxReplicas":3,` +
			`"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`,
		custom: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":{}}`,
	}
	c.register("Mutating", "m", "/m", strings.Join([]string{
		rule("CREATE", "", "v1", "configmaps"), rule("CREATE", "autoscaling", "v1", "horizontalpodautoscalers"),
		rule("CREATE", "example.com", "v1", "widgets"),
	}, ","))
	set := func(member, value string) string {
		return `{"op":"add","path":"/` + member + `","value":"` + value + `"}`
	}
	for _, test := range []struct {
		name, path, patch string
		code              int
		want              string
	}{
		{"another kind", maps, set("kind", "Secret"), 500,
			"converting (v1.Secret) to (core.ConfigMap): unknown conversion"},
		{"another kind that can't be decoded", maps, set("kind", "Secret") + `,{"op":"add","path":"/data","value":{"a":"%"}}`,
			500, "Internal error occurred: illegal base64 data at input byte 0"},
		{"another group", maps, set("apiVersion", "apps/v1") + "," + set("kind", "Deployment"), 500,
			"converting (v1.Deployment) to (core.ConfigMap): unknown conversion"},
		{"an unknown kind", maps, set("kind", "Nothing"), 500,
			`Internal error occurred: no kind "Nothing" is registered for version "v1" in scheme `},
		{"no kind", maps, `{"op":"remove","path":"/kind"},{"op":"remove","path":"/apiVersion"}`, 201, `"kind":"ConfigMap"`},
		{"another version", scalers, set("apiVersion", "autoscaling/v2") + `,{"op":"add","path":"/spec/metrics","value":[` +
			`{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":7}}}]}`,
			201, `"targetCPUUtilizationPercentage":7`},
		{"a custom resource of another kind", custom, set("kind", "Other"), 422,
			`Widget.example.com "x" is invalid: kind: Invalid value: "Other": must be Widget`},
		{"a custom resource of another group", custom, set("apiVersion", "other.com/v1"), 500,
			"request to convert CR from an invalid group/version: other.com/v1"},
		{"a custom resource without kind", custom, `{"op":"remove","path":"/kind"}`, 500,
			"Internal error occurred: Object 'Kind' is missing in "},
		{"a custom resource of another version", custom, set("apiVersion", "example.com/v2"), 201, `"example.com/v1"`},
	} {
		c.hook.ScriptPath("/m", patch("["+test.patch+"]"))
		a := c.want(test.code, "POST", test.path, bodies[test.path])
		if got := a.Status().Message; test.code != 201 && !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
		if test.code == 201 && !strings.Contains(string(a.Body), test.want) {
			t.Errorf("%s: %s\nwant %s", test.name, a.Body, test.want)
		}
		found := map[bool]int{true: 200, false: 404}[test.code == 201]
		c.want(found, "GET", test.path+"/x", nil)
		c.Do("DELETE", test.path+"/x", nil)
	}
}
