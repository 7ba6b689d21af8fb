package validation

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
	"github.com/kubecascade/kubecascade/apiserver/resources/defaults/defaultstest"
)

// versions are the ones of kinds whose Go type isn't of v1.
var versions = map[schema.GroupKind]string{{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "v2"}

func versionOf(gk schema.GroupKind) schema.GroupVersionKind {
	if v, ok := versions[gk]; ok {
		return gk.WithVersion(v)
	}
	return gk.WithVersion("v1")
}

// TestKindsDontPanic fills objects at random and judges them, as they are and defaulted, against
// each other, against themselves and against nothing.
func TestKindsDontPanic(t *testing.T) {
	for gk, kind := range kinds {
		t.Run(gk.String(), func(t *testing.T) {
			gvk := versionOf(gk)
			for seed := range int64(80) {
				obj, old, empty := defaultstest.New(t, gvk), defaultstest.New(t, gvk), defaultstest.New(t, gvk)
				defaultstest.Fill(seed, obj)
				defaultstest.Fill(seed+1000, old)
				judged(t, kind, obj, old)
				for _, o := range []runtime.Object{obj, old, empty} {
					if f := defaults.For(gvk); f != nil {
						f(o)
					}
				}
				judged(t, kind, obj, old)
				judged(t, kind, obj, obj.DeepCopyObject())
				judged(t, kind, obj, empty)
				judged(t, kind, empty, obj)
			}
		})
	}
}

// judged has every func of a kind judge and every error say its text.
func judged(t *testing.T, k Kind, obj, old runtime.Object) {
	var errs field.ErrorList
	if k.Create != nil {
		errs = k.Create(obj)
	}
	for _, f := range append([]func(obj, old runtime.Object) field.ErrorList{k.Update, k.Status}, slices.Collect(maps.Values(k.Parts))...) {
		if f != nil {
			errs = append(errs, f(obj, old)...)
		}
	}
	for _, err := range errs {
		if err.ErrorBody() == "" {
			t.Errorf("%s: an error without a text", err.Field)
		}
	}
}

// TestOtherTypesPass: an object of another type, or none, is not judged.
func TestOtherTypesPass(t *testing.T) {
	for _, table := range []map[schema.GroupKind]Kind{kinds, workloads} {
		for gk, kind := range table {
			for _, other := range []runtime.Object{nil, &metav1.Status{}} {
				var errs field.ErrorList
				if kind.Create != nil {
					errs = append(kind.Create(other), kind.Update(other, other)...)
				}
				if kind.Status != nil {
					errs = append(errs, kind.Status(other, other)...)
				}
				if len(errs) != 0 {
					t.Errorf("%s judges %T: %v", gk, other, errs)
				}
			}
		}
	}
	if For(schema.GroupKind{Group: "example.com", Kind: "Widget"}).Create != nil {
		t.Error("an unknown kind is judged")
	}
}

// TestBootstrapPasses: what a real server makes for itself is fine, and can be written again.
func TestBootstrapPasses(t *testing.T) {
	text, err := os.ReadFile("../../../conformance/recorded/data/bootstrap.json")
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
			kind := For(gvk.GroupKind())
			if errs := append(kind.Create(obj), kind.Update(obj, obj.DeepCopyObject())...); len(errs) != 0 {
				t.Errorf("%s: %v", text, errs)
			}
		}
	}
}
