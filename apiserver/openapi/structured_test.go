package openapi

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	wrap "k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// client-go contains the schema for server-side apply that Kubernetes' generator wrote for every type of k8s.io/api at
// the same version: list and map types, keys, defaults and types. The documents must result in the same schema (V-013,
// V-096).
func TestStructuredSchemasEqualClientGo(t *testing.T) {
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(
		&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
	if err != nil {
		t.Fatal(err)
	}
	want := typesByName(typed.Schema())
	d := newDefinitions(v3)
	marked, err := os.ReadFile("markers/markers.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range scheme.Scheme.AllKnownTypes() {
		if strings.Contains(string(marked), "\""+object.PkgPath()+".") {
			d.add(object)
		}
	}
	definitions := map[string]*spec.Schema{}
	for name, definition := range d.schemas {
		definitions[name] = wrap.WrapRefs(&definition.Schema)
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(definitions, false)
	if err != nil {
		t.Fatal(err)
	}
	own := typesByName(converted)
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if want[name] == nil || slices.Contains(opaque, name) {
			continue
		}
		compared++
		if diff := cmp.Diff(want[name], own[name]); diff != "" {
			t.Errorf("%s (-client-go +own):\n%s", name, diff)
		}
	}
	if compared < 400 {
		t.Errorf("compared only %d types", compared)
	}
}

// opaque types contain any JSON. client-go's file was generated from v2, where they are declared differently.
var opaque = []string{
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
	rawExtension,
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}

const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

func typesByName(s *smd.Schema) map[string]any {
	types := map[string]any{}
	for _, t := range s.Types {
		if strings.HasPrefix(t.Name, "io.k8s.") {
			types[t.Name] = simple(t.Atom)
		}
	}
	return types
}

// simple converts an atom to values that can be compared, from exported fields only.
func simple(a smd.Atom) map[string]any {
	m := map[string]any{}
	if a.Scalar != nil {
		m["scalar"] = string(*a.Scalar)
	}
	if a.List != nil {
		m["list"] = map[string]any{
			"of": reference(a.List.ElementType), "relation": string(a.List.ElementRelationship), "keys": a.List.Keys,
		}
	}
	if a.Map != nil {
		fields := map[string]any{}
		for _, f := range a.Map.Fields {
			fields[f.Name] = map[string]any{"type": reference(f.Type), "default": fmt.Sprint(f.Default)}
		}
		m["map"] = map[string]any{
			"of": reference(a.Map.ElementType), "relation": string(a.Map.ElementRelationship), "fields": fields,
		}
	}
	return m
}

func reference(r smd.TypeRef) any {
	if r.NamedType != nil {
		ref := map[string]any{"name": *r.NamedType}
		if *r.NamedType == rawExtension {
			ref["name"] = "__untyped_atomic_"
		}
		if r.ElementRelationship != nil {
			ref["relation"] = string(*r.ElementRelationship)
		}
		return ref
	}
	if r.Inlined.Scalar != nil && r.Inlined.List != nil && r.Inlined.Map != nil {
		return map[string]any{"name": "__untyped_deduced_"} // client-go has what that name represents
	}
	return simple(r.Inlined)
}
