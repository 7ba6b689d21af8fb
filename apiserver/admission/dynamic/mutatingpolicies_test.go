package dynamic_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// mutating are the fields of a policy that changes objects as the expressions say: a list of JSON patches begins with
// "[".
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

// TestMutations: what mutations make of a pod, and the responses about those that fail (M-58 to M-64, M-S11).
func TestMutations(t *testing.T) {
	c := start(t)
	const containers = "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'd', image: 'x'}]}}"
	for _, test := range []struct {
		name, spec string
		// want are the labels and containers of the pod, or the code, the reason and the causes of the denial.
		want string
	}{
		{"label", mutating("Never", label("a", "b")), "a=b,o=1 c"},
		{"container by key, with defaults", mutating("Never", containers), "o=1 c,d"},
		{"container that is there", mutating("Never", strings.ReplaceAll(containers, "'d'", "'c'")), "o=1 c"},
		{"two mutations",
			mutating("Never", label("a", "b"), "[JSONPatch{op: 'test', path: '/metadata/labels/a', value: 'b'},"+
				"JSONPatch{op: 'add', path: '/metadata/labels/c', value: 'd'}]"), "a=b,c=d,o=1 c"},
		{"failing test", mutating("Never", "[JSONPatch{op: 'test', path: '/metadata/labels/o', value: 'x'},"+
			"JSONPatch{op: 'remove', path: '/metadata/labels/o'}]"), "o=1 c"},
		{"removal", mutating("Never", "[JSONPatch{op: 'remove', path: '/metadata/labels/o'}]"), " c"},
		{"escaped key",
			mutating("Never", "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]"),
			"a/b=c,o=1 c"},
		{"sidecar", mutating("Never", "[JSONPatch{op: 'add', path: '/spec/containers/-', "+
			"value: Object.spec.containers{name: 's', image: 'x'}}]"), "o=1 c,s"},
		{"variables and namespace", `"variables":[{"name":"n","expression":"namespaceObject.metadata.name"}],` +
			mutating("Never", "Object{metadata: Object.metadata{labels: {'ns': variables.n}}}"), "ns=default,o=1 c"},
		{"condition", `"matchConditions":[{"name":"c","expression":"object.metadata.name != 'p'"}],` +
			mutating("Never", label("a", "b")), "o=1 c"},
		{"unset optional", mutating("Never", "Object{?spec: optional.none()}"), "o=1 c"},
		{"atomic list",
			mutating("Never", "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', args: ['x']}]}}"),
			"403 Invalid error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: " +
				".spec.containers[0].args"},
		{"unknown field", mutating("Never", "Object{spec: Object.spec{fooo: 'x'}}"), "403 Invalid error applying patch: " +
			"failed to convert patch object to typed object: .spec.fooo: field not declared in schema"},
		{"missing path", mutating("Never", "[JSONPatch{op: 'remove', path: '/metadata/annotations/x'}]"),
			"403 Invalid JSON Patch: " +
				`remove operation does not apply: doc is missing path: "/metadata/annotations/x": missing value`},
		{"two errors", mutating("Never", "[JSONPatch{op: 'remove', path: '/metadata/annotations/x'}]", label("a", "b"),
			"[JSONPatch{op: 'frob', path: '/metadata/annotations/x'}]"),
			"403 Invalid JSON Patch: remove operation does not apply: " +
				`doc is missing path: "/metadata/annotations/x": missing value|JSON Patch: Unexpected kind: frob`},
		{"ignored error",
			`"failurePolicy":"Ignore",` + mutating("Never", "[JSONPatch{op: 'remove', path: '/metadata/annotations/x'}]",
				label("a", "b")), "a=b,o=1 c"},
		{"error", mutating("Never", "Object{metadata: Object.metadata{labels: {'a': object.foo}}}"),
			"403 Invalid expression " +
				"'Object{metadata: Object.metadata{labels: {'a': object.foo}}}' resulted in error: no such key: foo"},
		{"failing condition",
			`"matchConditions":[{"name":"c","expression":"object.foo == 1"}],` + mutating("Never", label("a", "b")),
			"403 Invalid expression 'object.foo == 1' resulted in error: no such key: foo"},
		{"unknown field of the result", `"failurePolicy":"Ignore",` +
			mutating("Never", "[JSONPatch{op: 'add', path: '/spec/fooo', value: 'x'}]"),
			`500 InternalError strict decoding error: unknown field "spec.fooo"`},
	} {
		c.policy("Mutating", "p", rule("CREATE", "", "v1", "pods"), test.spec)
		c.bind("Mutating", "p")
		a := c.Do("POST", pods+"?dryRun=All", pod("p", "o=1"))
		if got := outcome(a); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		c.remove("Mutating", "p")
	}
	c.want(404, "GET", pods+"/p", nil)
}

// outcome is what TestMutations wants.
func outcome(a apiservertest.Answer) string {
	if a.Code != 201 {
		st, causes := a.Status(), []string{}
		for _, cause := range st.Details.Causes {
			causes = append(causes, strings.TrimPrefix(cause.Message, "policy 'p' with binding 'p' denied request: "))
		}
		if a.Code == 403 && st.Message != st.Details.Causes[0].Message {
			causes = append(causes, "but the message is "+st.Message)
		}
		return fmt.Sprintf("%d %s %s", a.Code, st.Reason, strings.Join(causes, "|"))
	}
	obj := a.Object()
	var labels, names []string
	for key, value := range obj.GetLabels() {
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "containers")
	for _, one := range containers {
		name := one.(map[string]any)["name"].(string)
		if one.(map[string]any)["imagePullPolicy"] == nil {
			name += " without defaults"
		}
		names = append(names, name)
	}
	return strings.Join(labels, ",") + " " + strings.Join(names, ",")
}

// TestMutationErrors: a policy that can't be configured is forbidden, without a reason of its own; the answer names the
// prefix of a generated name (M-63, M-S14).
func TestMutationErrors(t *testing.T) {
	c := start(t)
	c.policy("Mutating", "p", rule("CREATE", "", "v1", "configmaps"), `"paramKind":{"apiVersion":"v1","kind":"Secret"}`,
		mutating("Never", label("a", "b")))
	c.bind("Mutating", "p", `"paramRef":{"name":"s","parameterNotFoundAction":"Deny"}`)
	c.policy("Mutating", "q", rule("CREATE", "", "v1", "configmaps"), `"paramKind":{"apiVersion":"x.io/v1","kind":"Foo"}`,
		mutating("Never", label("a", "b")))
	c.bind("Mutating", "q")
	st := c.want(403, "POST", maps, `{"metadata":{"generateName":"m-"}}`).Status()
	const first = "policy 'p' with binding 'p' denied request: failed to configure binding: " +
		"no params found for policy binding with `Deny` parameterNotFoundAction"
	if st.Reason != "Forbidden" || st.Message != first || st.Details.Name != "m-" || st.Details.Kind != "configmaps" ||
		len(st.Details.Causes) != 2 || st.Details.Causes[0].Message != first ||
		st.Details.Causes[1].Message != `policy "q" denied request: failed to configure policy: `+
			`failed to find resource referenced by paramKind: 'x.io/v1, Kind=Foo'` {
		t.Errorf("%+v", st)
	}
}

// TestPoliciesAreReinvokedAfterAChange: policies are evaluated in the order of their names, and once more after
// something has changed the object, if they want that (M-66, M-67).
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

// TestReinvokedForWebhook: a policy whose conditions are false in the first round is not evaluated in the second, and
// one that a test has left without effect is, after a webhook's change.
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
