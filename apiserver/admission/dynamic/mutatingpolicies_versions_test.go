package dynamic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPoliciesMergeCustomResourcesBySchema: policies merge custom resources by the schema of their version, and unknown
// fields are pruned (M-S12).
func TestPoliciesMergeCustomResourcesBySchema(t *testing.T) {
	c := start(t)
	c.defineKind("widgets", "Widget", "Namespaced")
	for _, test := range []struct {
		name, expression string
		// want is the spec, or the error.
		want any
	}{
		{"field", "Object{spec: Object.spec{color: 'red'}}", map[string]any{
			"size": int64(3), "color": "red", "parts": []any{map[string]any{"name": "a", "n": int64(1)}},
		}},
		{"item by key",
			"Object{spec: Object.spec{parts: [Object.spec.parts{name: 'b'}, Object.spec.parts{name: 'a', n: 2}]}}",
			map[string]any{"size": int64(3), "parts": []any{
				map[string]any{"name": "b"}, map[string]any{"name": "a", "n": int64(2)},
			}}},
		{"field without schema", "Object{spec: Object.spec{free: Object.spec.free{any: 'thing'}}}", map[string]any{
			"size": int64(3), "free": map[string]any{"any": "thing"}, "parts": []any{map[string]any{"name": "a", "n": int64(1)}},
		}},
		{"unknown field", "Object{spec: Object.spec{fooo: 'x'}}", "error applying patch: failed to convert patch object to " +
			"typed object: .spec.fooo: field not declared in schema"},
		{"patch", "[JSONPatch{op: 'add', path: '/spec/fooo', value: 'x'}, JSONPatch{op: 'remove', path: '/spec/size'}," +
			"JSONPatch{op: 'replace', path: '/spec/parts', value: []}]", map[string]any{"size": int64(3), "parts": []any{}}},
	} {
		c.policy("Mutating", "p", rule("CREATE", "x.io", "v2", "widgets"), mutating("Never", test.expression))
		c.bind("Mutating", "p")
		a := c.Do(
			"POST", newWidgets+"?dryRun=All",
			withKind(newWidgets, `{"metadata":{"name":"w"},"spec":{"parts":[{"name":"a","n":1}]}}`),
		)
		if message, fails := test.want.(string); fails {
			if got := a.Status().Message; a.Code != 403 || !strings.HasSuffix(got, "denied request: "+message) {
				t.Errorf("%s: %d %s", test.name, a.Code, got)
			}
		} else if d := cmp.Diff(test.want, a.Object().Object["spec"]); a.Code != 201 || d != "" {
			t.Errorf("%s: %d %s", test.name, a.Code, d)
		}
		c.remove("Mutating", "p")
	}
}

// TestFormerlyStored: policies that v1.36 has stored as v1beta1 are served and in force; the next write stores them as
// v1 (V-008).
func TestFormerlyStored(t *testing.T) {
	c := start(t)
	const old = "admissionregistration.k8s.io/v1beta1"
	c.policy("Mutating", "p", rule("CREATE", "", "v1", "configmaps"), mutating("Never",
		"Object{data: {'a': 'b'}}"))
	c.bind("Mutating", "p")
	for _, plural := range []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		key := "/registry/" + plural + "/p"
		stored := func() string {
			r, err := c.Store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return string(r.Value)
		}
		const now = "admissionregistration.k8s.io/v1"
		if !strings.Contains(stored(), `"`+now+`"`) {
			t.Errorf("stored is %s", stored())
		}
		c.Put(t, key, strings.Replace(stored(), `"`+now+`"`, `"`+old+`"`, 1))
		if a := c.want(200, "GET", hookConfigs+plural+"/p", nil); a.Object().GetAPIVersion() != now {
			t.Errorf("%s", a.Body)
		}
		a := c.want(201, "POST", maps, `{"metadata":{"generateName":"a"}}`)
		if v, _, _ := unstructured.NestedString(a.Object().Object, "data", "a"); v != "b" {
			t.Errorf("not mutated: %s", a.Body)
		}
		c.want(200, "PATCH", hookConfigs+plural+"/p", `{"metadata":{"labels":{"a":"b"}}}`)
		if !strings.Contains(stored(), `"`+now+`"`) {
			t.Errorf("stored is %s", stored())
		}
	}
}

// TestMutatedVersions: each policy gets the object in the version that it matches, with the changes that others have
// made in other versions (M-S12, O-03).
func TestMutatedVersions(t *testing.T) {
	c := start(t)
	c.defineKind("widgets", "Widget", "Namespaced")
	trace := func(name, group, version, resource string) {
		c.policy("Mutating", name, rule("CREATE UPDATE", group, version, resource), mutating("Never",
			"Object{metadata: Object.metadata{annotations: {'trace': object.metadata.?annotations[?'trace'].orValue('') + ' "+
				name+
				"=' + object.apiVersion}}}"))
		c.bind("Mutating", name)
	}
	trace("a", "x.io", "v1", "widgets")
	trace("b", "x.io", "v2", "widgets")
	trace("c", "x.io", "v1", "widgets")
	trace("d", "autoscaling", "v1", "horizontalpodautoscalers")
	trace("e", "autoscaling", "v2", "horizontalpodautoscalers")
	c.policy("Mutating", "f", rule("CREATE", "autoscaling", "v1", "horizontalpodautoscalers"),
		mutating("Never", "Object{spec: Object.spec{targetCPUUtilizationPercentage: 7}}"))
	c.bind("Mutating", "f")
	want := func(obj *unstructured.Unstructured, trace string) {
		t.Helper()
		if got := obj.GetAnnotations()["trace"]; got != trace {
			t.Errorf("%s, want %s", got, trace)
		}
	}
	obj := c.want(201, "POST", newWidgets, withKind(newWidgets, `{"metadata":{"name":"w"},"spec":{}}`)).Object()
	want(obj, " a=x.io/v1 b=x.io/v2 c=x.io/v1")
	if obj.GetAPIVersion() != "x.io/v2" {
		t.Errorf("the response has version %s", obj.GetAPIVersion())
	}
	obj = c.want(200, "PATCH", oldWidgets+"/w", `{"metadata":{"annotations":null}}`).Object()
	want(obj, " a=x.io/v1 b=x.io/v2 c=x.io/v1")

	const scaler = `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,` +
		`"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`
	for _, version := range []string{"v1", "v2"} {
		path := "/apis/autoscaling/" + version + "/namespaces/default/horizontalpodautoscalers?dryRun=All"
		obj = c.want(201, "POST", path, scaler).Object()
		want(obj, " d=autoscaling/v1 e=autoscaling/v2")
		if version == "v1" {
			if n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "targetCPUUtilizationPercentage"); n != 7 {
				t.Errorf("%v", obj.Object["spec"])
			}
			continue
		}
		metrics, _, _ := unstructured.NestedSlice(obj.Object, "spec", "metrics")
		if !strings.Contains(encode(metrics), `"averageUtilization":7`) {
			t.Errorf("%v", metrics)
		}
	}
}
