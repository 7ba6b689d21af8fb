package customresource

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// widgets have a list for each kind of error.
const widgets = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    properties:
      numbers: {type: array, items: {type: integer, maximum: 9}}
      required: {type: array, items: {type: object, required: [a], properties: {a: {type: string, enum: [x, y]}}}}
      nested: {type: array, items: {type: array, items: {type: string, maxLength: 3}}}
      map: {type: object, additionalProperties: {type: integer}}
      choice:
        type: array
        items: {type: integer, anyOf: [{minimum: 10}, {maximum: 5}]}
      ruled:
        type: array
        items: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}
      objects:
        type: array
        items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  status:
    type: object
    properties:
      numbers: {type: array, items: {type: integer, maximum: 9}}
`

func widget(t *testing.T) *version {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(widgets), props); err != nil {
		t.Fatal(err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}}
	d.Spec.Group, d.Spec.Names.Kind = "example.com", "Widget"
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1",
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}}}
	return newVersion(d, 0, schemasIn(d))
}

func widgetOf(part, list string, value any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "a"}, part: map[string]any{list: value}}}
}

func repeat(n int, value func(i int) any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = value(i)
	}
	return list
}

// wrong returns lists of n invalid values by name.
func wrong(n int) map[string]any {
	entries := map[string]any{}
	for i := range n {
		entries[fmt.Sprint("k", i)] = "text"
	}
	same := func(v any) func(int) any { return func(int) any { return v } }
	return map[string]any{
		"numbers":  repeat(n, func(i int) any { return int64(10 + i) }),
		"required": repeat(n, same(map[string]any{})),
		"nested":   repeat(n, same([]any{"long", "longer", "x"})),
		"map":      entries,
		"choice":   repeat(n, same(int64(7))),
		"ruled":    repeat(n, same(int64(-1))),
	}
}

// TestSchemaErrorsAreBounded: the errors for a list of invalid items are limited. Its validation does not take much
// memory, or time that grows with the square of its length.
func TestSchemaErrorsAreBounded(t *testing.T) {
	v := widget(t)
	empty := widgetOf("spec", "numbers", []any{})
	v.validate(empty, nil) // compiles
	for name, list := range wrong(20_000) {
		obj := widgetOf("spec", name, list)
		for what, find := range map[string]func() field.ErrorList{
			"create": func() field.ErrorList { return v.validate(obj, nil) },
			"update": func() field.ErrorList { return v.validate(obj, empty) },
			"status": func() field.ErrorList {
				return v.validateStatus(
					widgetOf("status", "numbers", wrong(20_000)["numbers"]), widgetOf("status", "numbers", []any{}))
			},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			errs := find()
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if n := len(errs); n < invalid.MaxErrors || n > 20*invalid.MaxErrors {
				t.Errorf("%s, %s: %d errors", what, name, n)
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 100<<20 {
				t.Errorf("%s, %s: %d MiB", what, name, bytes>>20)
			}
			if took > 10*time.Second {
				t.Errorf("%s, %s: took %v", what, name, took)
			}
		}
	}
}

// TestSchemaErrorsAreTheLibrarys: up to the limit, the errors are those of apiextensions-apiserver.
func TestSchemaErrorsAreTheLibrarys(t *testing.T) {
	v := widget(t)
	in, err := v.internalSchema()
	if err != nil {
		t.Fatal(err)
	}
	library, _, err := validation.NewSchemaValidator(in)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := newSchemaValidator(in)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, want, got field.ErrorList, ordered bool) {
		t.Helper()
		texts := func(errs field.ErrorList) (all []string) {
			for _, e := range errs {
				all = append(all, e.Error())
			}
			if !ordered {
				slices.Sort(all)
			}
			return all[:min(len(all), invalid.MaxErrors)]
		}
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	for _, n := range []int{0, 1, 30, invalid.MaxErrors + 20} {
		for name, list := range wrong(n) {
			if name == "map" && n > 30 {
				continue // which entries come first is random
			}
			obj, what := widgetOf("spec", name, list).Object, fmt.Sprint(n, " ", name)
			ordered := name != "map"
			compare(
				what, validation.ValidateCustomResource(nil, obj, library), validation.ValidateCustomResource(nil, obj, ours),
				ordered)
			for was, old := range map[string]any{
				"nothing": widgetOf("spec", name, nil).Object, "the same": widgetOf("spec", name, list).Object,
				"a part": widgetOf("spec", name, wrong(n / 2)[name]).Object,
			} {
				compare(what+" after "+was, validation.ValidateCustomResourceUpdate(
					nil, obj, old, library, validation.WithRatcheting(nil)),
					validation.ValidateCustomResourceUpdate(nil, obj, old, ours, validation.WithRatcheting(nil)), ordered)
			}
			compare(what+" without ratcheting", validation.ValidateCustomResourceUpdate(nil, obj, obj, library),
				validation.ValidateCustomResourceUpdate(nil, obj, obj, ours), ordered)
		}
	}
	odd := widgetOf("spec", "numbers", []any{int64(99)}).Object
	odd["kind"] = int64(1)
	compare("a kind that is a number", validation.ValidateCustomResourceUpdate(
		nil, odd, odd, library, validation.WithRatcheting(nil)),
		validation.ValidateCustomResourceUpdate(nil, odd, odd, ours, validation.WithRatcheting(nil)), true)
}
