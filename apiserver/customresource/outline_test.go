package customresource

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOutlineDecodesSchemasSeparately: an outline has the rest, and decodes each schema from the stored bytes.
func TestOutlineDecodesSchemasSeparately(t *testing.T) {
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "widgets.example.com", Annotations: map[string]string{"spec": `"versions":[{"schema":{}}]`},
	}}
	d.Spec.Group, d.Spec.Names.Kind = "example.com", "Widget"
	for i := range 3 {
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: fmt.Sprint("v", i), Served: true, Storage: i == 0,
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "schema", JSONPath: ".spec"}}}
		if i != 1 {
			v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Description: fmt.Sprint(i, ` "schema": [`),
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"schema": {Type: "string"}, "versions": {Type: "integer"}},
			}}
		}
		d.Spec.Versions = append(d.Spec.Versions, v)
	}
	stored, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	o, err := outlineOf(stored)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Spec.Versions {
		got, err := o.schema(i)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.Spec.Versions[i].Schema, got); diff != "" {
			t.Errorf("schema of version %d (-want +got):\n%s", i, diff)
		}
		if s := o.schemas[i]; s != nil && !shares(stored, s) {
			t.Errorf("schema of version %d: it is a copy, so it takes its memory once more", i)
		}
		d.Spec.Versions[i].Schema = nil
	}
	if diff := cmp.Diff(d, o.definition); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, malformed := range []string{``, `{`, `{"spec":{"versions":[{"schema":`, `{"spec":{"versions":{}}}`, `[]`} {
		if o, err := outlineOf([]byte(malformed)); err == nil {
			t.Errorf("%s is decoded as %v", malformed, o.definition)
		}
	}
	if o, err := outlineOf([]byte(`{"spec":{"group":"a"}}`)); err != nil || o.definition.Spec.Group != "a" {
		t.Errorf("without versions: %v, %v", o.definition, err)
	}
}

// shares reports whether a slice is a part of another one.
func shares(whole, part []byte) bool {
	for i := range whole {
		if &whole[i] == &part[0] {
			return true
		}
	}
	return false
}
