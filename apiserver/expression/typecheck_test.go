package expression

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecascade/kubecascade/apiserver/openapi"
)

// served has the schemas of a few kinds. It records the kinds whose schemas it was asked for.
func served(asked *[]string) Schemas {
	objects := map[schema.GroupVersionKind]runtime.Object{
		appsv1.SchemeGroupVersion.WithKind("Deployment"): &appsv1.Deployment{},
		appsv1.SchemeGroupVersion.WithKind("DaemonSet"):  &appsv1.DaemonSet{},
		corev1.SchemeGroupVersion.WithKind("ConfigMap"):  &corev1.ConfigMap{},
	}
	kinds := map[string]string{"deployments": "Deployment", "daemonsets": "DaemonSet", "configmaps": "ConfigMap"}
	return Schemas{
		KindsOf: func(r schema.GroupVersionResource) []schema.GroupVersionKind {
			if strings.HasPrefix(r.Resource, "many") {
				return []schema.GroupVersionKind{r.GroupVersion().WithKind(r.Resource)}
			}
			kind := r.GroupVersion().WithKind(kinds[r.Resource])
			if objects[kind] == nil {
				return nil
			}
			return []schema.GroupVersionKind{kind}
		},
		SchemaOf: func(kind schema.GroupVersionKind) *spec.Schema {
			if *asked = append(*asked, kind.Kind); objects[kind] == nil {
				return nil
			}
			return Resolve(openapi.Schemas(objects[kind]))
		},
	}
}

// rules makes rules of lines "group version resource,resource".
func rules(lines ...string) *admissionv1.MatchResources {
	m := &admissionv1.MatchResources{}
	for _, line := range lines {
		f := strings.Split(line, " ")
		m.ResourceRules = append(m.ResourceRules, admissionv1.NamedRuleWithOperations{
			RuleWithOperations: admissionv1.RuleWithOperations{Rule: admissionv1.Rule{
				APIGroups: []string{f[0]}, APIVersions: []string{f[1]}, Resources: strings.Split(f[2], ","),
			}},
		})
	}
	return m
}

// TestCheckTypes: validations and messages are checked with the types of the objects, params and variables (M-53).
func TestCheckTypes(t *testing.T) {
	s := policyOf("object.spec.nope == 1",
		"object.spec.replicas > 1 && oldObject.spec.template.spec.containers.all(c, c.image.startsWith('a'))",
		"params.data['a'] == 1",
		"variables.replicas == 'a' && variables.broken.anything",
		"object.metadata.labels.a == 'b' && request.operation == 'CREATE' && namespaceObject.metadata.name == 'a'",
		"object.spec.strategy.rollingUpdate.maxSurge == 1")
	s.Validations[0].MessageExpression = "object.apiVersion + 1"
	s.ParamKind = &admissionv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	s.Variables = []admissionv1.Variable{
		{Name: "replicas", Expression: "object.spec.replicas"}, {Name: "broken", Expression: "object.nope"},
	}
	s.MatchConstraints = rules("apps v1 deployments,deployments/scale,*")
	var asked []string
	at := func(i int, child string) string { return fmt.Sprintf("spec.validations[%d].%s", i, child) }
	const prefix = "apps/v1, Kind=Deployment: ERROR: <input>:1:"
	want := []admissionv1.ExpressionWarning{
		{FieldRef: at(0, "expression"), Warning: prefix +
			"12: undefined field 'nope'\n | object.spec.nope == 1\n | ...........^\n"},
		{FieldRef: at(0, "messageExpression"), Warning: prefix +
			"19: found no matching overload for '_+_' applied to '(string, int)'\n" +
			" | object.apiVersion + 1\n | ..................^\n"},
		{FieldRef: at(2, "expression"), Warning: prefix +
			"18: found no matching overload for '_==_' applied to '(string, int)'\n" +
			" | params.data['a'] == 1\n | .................^\n"},
		{FieldRef: at(3, "expression"), Warning: prefix +
			"20: found no matching overload for '_==_' applied to '(int, string)'\n" +
			" | variables.replicas == 'a' && variables.broken.anything\n | ...................^\n"},
	}
	if diff := cmp.Diff(want, CheckTypes(s, served(&asked))); diff != "" {
		t.Error(diff)
	}
}

// TestCheckTypesOfKinds: a warning names the kinds in order; wildcards and unknown kinds have no warnings.
func TestCheckTypesOfKinds(t *testing.T) {
	s := policyOf("object.data.a == 1")
	var asked []string
	check := func(lines ...string) string {
		s.MatchConstraints, asked = rules(lines...), nil
		var all []string
		for _, w := range CheckTypes(s, served(&asked)) {
			all = append(all, w.Warning)
		}
		return strings.Join(all, "\n--\n")
	}
	got := check("apps v1 deployments,daemonsets,unknowns", " v1 configmaps", "apps v1 deployments")
	const line = "\n | object.data.a == 1\n"
	undefined := "ERROR: <input>:1:7: undefined field 'data'" + line + " | ......^\n"
	want := "/v1, Kind=ConfigMap: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'" +
		line + " | ..............^\n\napps/v1, Kind=DaemonSet: " + undefined +
		"\napps/v1, Kind=Deployment: " + undefined
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, lines := range [][]string{
		nil, {"* v1 deployments"}, {"apps * deployments"}, {"apps v1 *"}, {"apps v1 */scale"},
	} {
		if got := check(lines...); got != "" || len(asked) != 0 {
			t.Errorf("%q: %q for %q", lines, got, asked)
		}
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("many%02d", i))
	}
	check("g v1 "+strings.Join(many, ","), "apps v1 deployments")
	if diff := cmp.Diff(many[:10], asked); diff != "" {
		t.Errorf("ten kinds are enough:\n%s", diff)
	}
}

// TestReferencesAreReplacedBySchemas: also those in allOf are replaced, and a recursive one by an empty object.
func TestReferencesAreReplacedBySchemas(t *testing.T) {
	ref := func(name string) spec.Schema { return *spec.RefSchema("#/components/schemas/" + name) }
	wrapped := spec.Schema{SchemaProps: spec.SchemaProps{Description: "d", AllOf: []spec.Schema{ref("b")}}}
	b := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"again": ref("b"), "text": *spec.StringProperty(),
	}}}
	a := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"list": *spec.ArrayProperty(spec.RefSchema("#/components/schemas/b")), "map": *spec.MapProperty(&wrapped),
		"one": wrapped, "missing": *spec.StringProperty(),
	}}}
	schemas := map[string]*spec.Schema{"a": &a, "b": &b}
	object := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	within := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"again": object, "text": *spec.StringProperty(),
	}}}
	want := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"list": *spec.ArrayProperty(&within), "map": *spec.MapProperty(&within), "one": within,
		"missing": *spec.StringProperty(),
	}}}
	if diff := cmp.Diff(inJSON(t, want), inJSON(t, Resolve("a", schemas))); diff != "" {
		t.Error(diff)
	}
	a.Properties["missing"] = ref("c")
	if Resolve("a", schemas) != nil || Resolve("c", schemas) != nil {
		t.Error("a reference to nothing is resolved")
	}
}

func inJSON(t *testing.T, s *spec.Schema) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
