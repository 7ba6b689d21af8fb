package validation

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
)

// TestKindsDontPanic validates random objects of each kind, with and without defaults. The old object is the same
// object, another one, or nil.
func TestKindsDontPanic(t *testing.T) {
	for _, kind := range kinds {
		gvk := kind.GVK
		t.Run(gvk.String(), func(t *testing.T) {
			for seed := range int64(80) {
				obj, old, empty := objecttest.New(t, gvk), objecttest.New(t, gvk), objecttest.New(t, gvk)
				objecttest.Fill(seed, obj)
				objecttest.Fill(seed+1000, old)
				validated(t, kind.Validation, obj, old)
				for _, o := range []runtime.Object{obj, old, empty} {
					if f := kind.Default; f != nil {
						f(o)
					}
				}
				validated(t, kind.Validation, obj, old)
				validated(t, kind.Validation, obj, obj.DeepCopyObject())
				validated(t, kind.Validation, obj, empty)
				validated(t, kind.Validation, empty, obj)
			}
		})
	}
}

// validated calls every validation function of a kind. Each error must have a message.
func validated(t *testing.T, k kindtest.Validation, obj, old runtime.Object) {
	errs := k.Whole(obj, nil)
	for _, f := range append(
		[]func(obj, old runtime.Object) field.ErrorList{k.Whole, k.Status}, slices.Collect(maps.Values(k.Parts))...,
	) {
		if f != nil {
			errs = append(errs, f(obj, old)...)
		}
	}
	for _, err := range errs {
		if err.ErrorBody() == "" {
			t.Errorf("%s: an error without a message", err.Field)
		}
	}
}

// TestOtherTypesPass: validation returns no error for an object of another type, or nil.
func TestOtherTypesPass(t *testing.T) {
	for _, kind := range kinds {
		k := kind.Validation
		for _, other := range []runtime.Object{nil, &metav1.Status{}} {
			errs := append(k.Whole(other, nil), k.Whole(other, other)...)
			if k.Status != nil {
				errs = append(errs, k.Status(other, other)...)
			}
			if len(errs) != 0 {
				t.Errorf("%s validates %T: %v", kind.GVK, other, errs)
			}
		}
	}
}

// TestBootstrapPasses: the objects that a real server creates at its start are valid, and can be written again.
func TestBootstrapPasses(t *testing.T) {
	text, err := os.ReadFile("../../../../conformance/recorded/data/bootstrap.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, list := range all {
		for _, text := range list {
			obj, gvk := created(t, string(text))
			kind := validationOf(gvk.GroupKind())
			if errs := append(kind.Whole(obj, nil), kind.Whole(obj, obj.DeepCopyObject())...); len(errs) != 0 {
				t.Errorf("%s: %v", text, errs)
			}
		}
	}
}
