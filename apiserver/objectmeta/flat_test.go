package objectmeta

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// oddMetadata are values of metadata, valid and not.
var oddMetadata = map[string][]any{
	"name":                       {"a", "", "A/b", int64(7)},
	"generateName":               {"a-", "A/"},
	"namespace":                  {"default", "", "A"},
	"uid":                        {"u", "v", ""},
	"resourceVersion":            {"1", ""},
	"generation":                 {int64(1), int64(-1), int64(2), "1"},
	"creationTimestamp":          {"2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00", "now", nil},
	"deletionTimestamp":          {"2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00"},
	"deletionGracePeriodSeconds": {int64(0), int64(30), "1"},
	"labels": {map[string]any{"a": "b"}, map[string]any{"a/b/c": "<>"}, map[string]any{"a": int64(1)},
		"a"},
	"annotations": {map[string]any{"a": "b"}, map[string]any{"": "b"}},
	"finalizers":  {[]any{"a.io/b"}, []any{"orphan", "foregroundDeletion"}, []any{int64(1)}, []any{"a b"}},
	"ownerReferences": {[]any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}},
		[]any{map[string]any{"kind": "K"}}, []any{nil}},
	"managedFields": {
		[]any{map[string]any{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "time": "2024-05-01T10:00:00Z",
			"fieldsV1": map[string]any{"f:a": map[string]any{}}, "subresource": "status"}},
		[]any{map[string]any{"manager": "\n", "operation": "Other", "fieldsType": "FieldsV2"}}, []any{map[string]any{}},
		[]any{map[string]any{"operation": "Apply", "time": "now"}}, []any{map[string]any{"manager": int64(1)}}, []any{nil},
		nil,
		[]any{map[string]any{"operation": "Apply", "fieldsV1": "a", "time": "2024-05-01T10:00:00+02:00"}}, []any{},
	},
}

// TestFlat: validation finds the same errors in the metadata of an unstructured object and in that of Flat.
func TestFlat(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	object := func() *unstructured.Unstructured {
		m := map[string]any{}
		for name, values := range oddMetadata {
			if n := r.IntN(3 * len(values)); n < len(values) {
				m[name] = values[n]
			} else if n < 2*len(values) {
				m[name] = values[0]
			}
		}
		return &unstructured.Unstructured{Object: map[string]any{"metadata": m}}
	}
	found := 0
	for range 3000 {
		a, b := object(), object()
		errors := func(a, b metav1.Object) []string {
			at := field.NewPath("metadata")
			errs := validation.ValidateObjectMetaAccessor(a, true, path.ValidatePathSegmentName, at)
			var texts []string
			for _, err := range append(errs, validation.ValidateObjectMetaAccessorUpdate(a, b, at)...) {
				texts = append(texts, err.Error())
			}
			return texts
		}
		want, got := errors(a, b), errors(Flat(a), Flat(b))
		if d := cmp.Diff(sortedTexts(want), sortedTexts(got)); d != "" {
			t.Fatalf("%v: %s", a.Object, d)
		}
		found += len(want)
	}
	if found < 1000 {
		t.Errorf("only %d errors were found", found)
	}
	var m metav1.Object = &metav1.ObjectMeta{}
	if Flat(m) != m {
		t.Error("metadata of a Go type is copied")
	}
}

// sortedTexts are errors without the order of maps.
func sortedTexts(texts []string) map[string]int {
	all := map[string]int{}
	for _, text := range texts {
		all[text]++
	}
	return all
}
