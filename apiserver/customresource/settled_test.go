package customresource

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// mixedSchema is a random schema whose objects may be embedded resources and may have unknown fields.
func mixedSchema(r *rand.Rand, depth int) *schema.Structural {
	s := randomSchema(r, depth)
	var mix func(s *schema.Structural)
	mix = func(s *schema.Structural) {
		if r.IntN(2) == 0 { // values that settle are seldom, otherwise
			s.Default.Object = nil
		}
		s.XPreserveUnknownFields, s.XEmbeddedResource = r.IntN(3) == 0, r.IntN(5) == 0
		for name, p := range s.Properties {
			mix(&p)
			s.Properties[name] = p
		}
		if s.Items != nil {
			mix(s.Items)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
			mix(s.AdditionalProperties.Structural)
		}
	}
	mix(s)
	s.XEmbeddedResource, s.Default.Object = r.IntN(9) == 0, nil
	return s
}

// mixedValue is a random value of JSON, or one that JSON changes.
func mixedValue(r *rand.Rand, depth int) any {
	switch r.IntN(9) {
	case 0:
		return nil
	case 1:
		return [...]any{0.5, 1e21, 3.0, math.Copysign(0, -1)}[r.IntN(4)]
	case 2:
		return [...]any{int64(0), int64(math.MaxInt64), true, false, int64(-1)}[r.IntN(5)]
	case 3:
		return [...]any{"", "<a>", "\xff", "\u2028"}[r.IntN(4)]
	case 4, 5:
		list := []any{}
		for range r.IntN(3) * min(depth, 1) {
			list = append(list, mixedValue(r, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(4) * min(depth, 1) {
		name := [...]string{"a", "b", "c", "d", "e", "metadata", "kind", "apiVersion"}[r.IntN(8)]
		if m[name] = mixedValue(r, depth-1); name == "metadata" && r.IntN(3) > 0 {
			m[name] = mixedMetadata(r)
		} else if name == "kind" && r.IntN(3) > 0 {
			m[name] = "K"
		}
	}
	return m
}

// mixedMetadata is metadata, which mostly has the form in which it is encoded.
func mixedMetadata(r *rand.Rand) map[string]any {
	fields := []struct {
		name   string
		values []any // the last ones change
	}{
		{"name", []any{"a", "b", ""}},
		{"uid", []any{"u", int64(1)}},
		{"generation", []any{int64(1), int64(7), int64(0), 2.0, nil}},
		{"creationTimestamp", []any{"2024-05-01T10:00:00Z", "2024-05-01T10:00:00+02:00", nil, "0001-01-01T00:00:00Z", "now"}},
		{"deletionTimestamp", []any{"2024-05-01T10:00:00Z", "2024-05-01T10:00:00.5Z", "0001-01-01T00:00:00Z"}},
		{"deletionGracePeriodSeconds", []any{int64(0), int64(3), nil}},
		{"labels", []any{map[string]any{"a": "", "b": "<c>"}, map[string]any{}, map[string]any{"a": int64(1)}, nil, "a"}},
		{"annotations", []any{map[string]any{"a": "b"}, map[string]any{"a": nil}, map[string]any{"a": "\xff"}}},
		{"finalizers", []any{[]any{"a", ""}, []any{}, []any{nil}}},
		{"ownerReferences", []any{
			[]any{map[string]any{"apiVersion": "", "kind": "K", "name": "n", "uid": "u", "controller": false}},
			[]any{map[string]any{"kind": "K", "name": "n", "uid": "u"}}, []any{nil}, []any{},
			[]any{map[string]any{"apiVersion": "", "kind": "K", "name": "n", "uid": "u", "controller": nil}},
			[]any{map[string]any{"apiVersion": "", "kind": "K", "name": "n", "uid": "u", "other": "a"}},
		}},
		{"managedFields", []any{
			[]any{map[string]any{"manager": "m", "operation": "Update", "time": "2024-05-01T10:00:00Z", "fieldsType": "FieldsV1",
				"fieldsV1": map[string]any{"f:a": map[string]any{".": map[string]any{}}}}, map[string]any{}},
			[]any{map[string]any{"manager": ""}}, []any{map[string]any{"fieldsV1": nil}},
			[]any{map[string]any{"fieldsV1": map[string]any{"f:a": 3.0}}}, []any{map[string]any{"other": "a"}},
		}},
		{"other", []any{"a"}},
		{"resourceVersion", []any{"1", ""}},
	}
	m := map[string]any{}
	for _, f := range fields {
		if r.IntN(3) == 0 && f.name != "other" || r.IntN(30) == 0 {
			m[f.name] = f.values[0]
		}
		if r.IntN(60) == 0 {
			m[f.name] = f.values[r.IntN(len(f.values))]
		}
	}
	return m
}

// TestSettled: what is said to be settled is not changed by coerceWhole, and what is said to be canonical is read as it
// was stored.
func TestSettled(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	quiet, shown := 0, 0
	for range 15000 {
		v := &version{
			CustomResourceDefinitionVersion: apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1"},
			apiVersion:                      "g.io/v1", kind: "K",
		}
		s := mixedSchema(r, 3)
		compiled := &rules{structural: s, defaults: defaultsOf(s)}
		v.rules = func() (*rules, error) { return compiled, nil }
		content, _ := mixedValue(r, 4).(map[string]any)
		if content == nil {
			content = map[string]any{}
		}
		content["apiVersion"], content["kind"], content["metadata"] = "g.io/v1", "K", mixedMetadata(r)
		u := &unstructured.Unstructured{Object: content}
		if v.settled(u, compiled) {
			quiet++
			checkSettled(t, v, compiled, u)
		}
		if v.canonical(u) {
			shown++
			checkCanonical(t, v, compiled, u)
		}
		if t.Failed() {
			return
		}
	}
	if quiet < 500 || shown < 250 {
		t.Errorf("only %d objects were settled, and %d canonical", quiet, shown)
	}
}

func checkSettled(t *testing.T, v *version, r *rules, u *unstructured.Unstructured) {
	t.Helper()
	next := u.DeepCopy()
	unknown, err := v.coerceWhole(next, r, false)
	if err != nil || len(unknown) > 0 || !reflect.DeepEqual(next.Object, u.Object) {
		t.Errorf("%#v\n becomes %#v: %q, %v", u.Object, next.Object, unknown, err)
	}
}

func checkCanonical(t *testing.T, v *version, r *rules, u *unstructured.Unstructured) {
	t.Helper()
	data, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	next := &unstructured.Unstructured{}
	if err = next.UnmarshalJSON(data); err == nil {
		_, err = v.coerceWhole(next, r, true)
	}
	v.fill(next)
	again, _ := json.Marshal(next.Object)
	if err != nil || string(again) != string(data) {
		t.Errorf("%s\n is read as %s: %v", data, again, err)
	}
}

// TestSettledWhole: objects of a definition that keeps unknown fields are not looked at, and neither are those of
// another kind or version.
func TestSettledWhole(t *testing.T) {
	v := widget(t)
	r, err := v.rules()
	if err != nil {
		t.Fatal(err)
	}
	u := widgetOf("spec", "numbers", []any{int64(1)})
	if !v.settled(u, r) {
		t.Error("an object is not settled")
	}
	for name, change := range map[string]func(v *version, u *unstructured.Unstructured){
		"whole":   func(v *version, _ *unstructured.Unstructured) { v.whole = true },
		"kind":    func(_ *version, u *unstructured.Unstructured) { u.SetKind("Other") },
		"version": func(_ *version, u *unstructured.Unstructured) { u.SetAPIVersion("example.com/v2") },
		"unknown": func(_ *version, u *unstructured.Unstructured) { u.Object["other"] = "a" },
	} {
		v, u := *v, u.DeepCopy()
		if change(&v, u); v.settled(u, r) {
			t.Errorf("%s: it is settled", name)
		}
	}
}
