package codec

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"
)

// TestKindIn: the kind that is found in an object is the one that is found in its JSON, or none.
func TestKindIn(t *testing.T) {
	none := map[string]bool{}
	for _, data := range []string{
		`{"kind":"A","apiVersion":"g/v1","KIND":"B"}`, `{"kind":"A","APIVersion":"v2"}`, `{"\u212aind":"B"}`,
		`{"kind":1}`, `{"kind":null}`, `{"apiVersion":"a/b/c"}`, `{"apiVersion":{}}`,
	} {
		none[data] = true
	}
	for _, data := range []string{
		`{}`, `{"kind":"A"}`, `{"apiVersion":"v1"}`, `{"apiVersion":"g/v1","kind":"A","metadata":{"kind":"B"}}`,
		`{"apiVersion":"","kind":""}`, `{"kind":"\ud800"}`, `{"apiVersion":"g/v1","spec":null,"kinds":"B"}`,
	} {
		none[data] = false
	}
	for data, unknown := range none {
		m := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		got, known := kindIn(m)
		want, err := jsonserializer.DefaultMetaFactory.Interpret([]byte(data))
		if known == unknown || known && (err != nil || got != *want) {
			t.Errorf("%s: got %v, %v, want %v, %v", data, got, known, want, err)
		}
	}
	if got, known := kindIn(nil); got != (schema.GroupVersionKind{}) || !known {
		t.Errorf("of nothing: %v, %v", got, known)
	}
}
