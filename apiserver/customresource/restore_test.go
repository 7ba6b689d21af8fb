package customresource

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// randomMetadata is metadata as clients and webhooks may leave it, some of it malformed.
func randomMetadata(r *rand.Rand) map[string]any {
	m := map[string]any{"name": "a"}
	for name, values := range map[string][]any{
		"labels":            {map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": int64(1)}, nil, "x"},
		"finalizers":        {[]any{}, []any{"a/b"}, []any{int64(1)}, nil},
		"creationTimestamp": {nil, "2026-01-02T03:04:05Z", "x"},
		"generation":        {int64(0), int64(7), "x"},
		"ownerReferences":   {[]any{}, []any{map[string]any{"uid": "u"}}, []any{map[string]any{"uid": int64(1)}}},
		"unknown":           {int64(1), map[string]any{}},
	} {
		if r.IntN(3) == 0 {
			m[name] = values[r.IntN(len(values))]
		}
	}
	return m
}

// randomDefault has no nulls: a default must be valid.
func randomDefault(r *rand.Rand, depth int) any { return withoutNulls(randomValue(r, depth)) }

func withoutNulls(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			if x[name] = withoutNulls(v); x[name] == nil {
				delete(x, name)
			}
		}
	case []any:
		for i := range x {
			x[i] = withoutNulls(x[i])
		}
		return slices.DeleteFunc(x, func(v any) bool { return v == nil })
	}
	return x
}

// TestRestoredTwice: an object that was restored, as it is before it is stored, is read again as the same bytes. So it
// may be marked as verified when it is written (registry: decoded).
func TestRestoredTwice(t *testing.T) {
	changed := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := &schema.Structural{Properties: map[string]schema.Structural{}}
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": randomMetadata(r)}}
		for _, name := range []string{"spec", "status", "more"} {
			if r.IntN(4) > 0 {
				s.Properties[name] = *randomSchema(r, 3, randomDefault)
			}
			if r.IntN(2) > 0 {
				u.Object[name] = randomValue(r, 3)
			}
		}
		if r.IntN(2) > 0 {
			embedded := s.Properties["spec"]
			embedded.AdditionalProperties = nil // it would describe metadata, which a definition may not
			embedded.XEmbeddedResource, embedded.XPreserveUnknownFields = true, r.IntN(2) > 0
			s.Properties["spec"] = embedded
			u.Object["spec"] = map[string]any{"kind": "K", "apiVersion": "v1", "metadata": randomMetadata(r)}
		}
		if err := defaulting.PruneDefaults(s); err != nil {
			t.Fatal(err)
		}
		v := &version{apiVersion: "g/v1", kind: "K", whole: r.IntN(8) == 0}
		v.rules = func() (*rules, error) { return &rules{structural: s, defaults: defaultsOf(s)}, nil }
		u.SetAPIVersion(v.apiVersion)
		u.SetKind(v.kind)
		was, _ := json.Marshal(u.Object)
		restored := func() string {
			t.Helper()
			if err := restore(schemes{versions: []*version{v}})(u); err != nil {
				return ""
			}
			data, err := json.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		once := restored()
		if once == "" {
			continue
		}
		if once != string(was) {
			changed++
		}
		u = &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(once)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := restored(); again != once {
			t.Fatalf("seed %d:\n%s\n%s\n%s", seed, was, once, again)
		}
	}
	if changed < 1000 {
		t.Errorf("%d objects were changed", changed)
	}
}
