package openapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Strings of AX pkg/controller/openapi/builder/builder.go and of metav1.PartialObjectMetadata.
const (
	embeddedVersionText = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKindText    = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
	listText            = "List of %s. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
)

// addCustom adds the schemas of a custom resource and of its list, and returns their names.
func (d *definitions) addCustom(t *Type) (object, list model, err error) {
	body, err := t.Custom.Schema(d.v2)
	if err != nil {
		return "", "", fmt.Errorf("making the schema of %s: %w", t.groupVersionKind(), err)
	}
	gv := t.groupVersion()
	objectMeta, listMeta := d.add(reflect.TypeFor[metav1.ObjectMeta]()), d.add(reflect.TypeFor[metav1.ListMeta]())
	objectSchema := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	if body != nil {
		objectSchema = *d.native(body, true)
	}
	objectName := CustomName(gv, t.Kind)
	d.schemas[objectName] = common.OpenAPIDefinition{Schema: objectSchema, Dependencies: []string{objectMeta}}

	items := d.reference(objectName)
	listSchema := spec.Schema{SchemaProps: spec.SchemaProps{
		Description: t.Custom.ListKind + " is a list of " + t.Kind,
		Required:    []string{"items"},
		Type:        []string{"object"},
	}}
	listSchema.SetProperty("items", *spec.ArrayProperty(&items).WithDescription(fmt.Sprintf(listText, t.Plural)))
	d.setMeta(&listSchema, listMeta, metav1.PartialObjectMetadataList{})
	d.setTypeMeta(&listSchema)
	listName := CustomName(gv, t.Custom.ListKind)
	d.schemas[listName] = common.OpenAPIDefinition{Schema: listSchema, Dependencies: []string{objectName, listMeta}}
	return model(objectName), model(listName), nil
}

// native returns a copy of a custom schema with apiVersion, kind and metadata, for the object itself and for each
// x-kubernetes-embedded-resource.
func (d *definitions) native(s *spec.Schema, root bool) *spec.Schema {
	out := *s
	out.Properties = maps.Clone(s.Properties)
	out.Required = slices.Clone(s.Required)
	out.Extensions = maps.Clone(s.Extensions)
	for name, p := range out.Properties {
		out.Properties[name] = *d.native(&p, false)
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &spec.SchemaOrArray{Schema: d.native(s.Items.Schema, false)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &spec.SchemaOrBool{
			Allows: s.AdditionalProperties.Allows, Schema: d.native(s.AdditionalProperties.Schema, false),
		}
	}
	embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource")
	if !root && !embedded {
		return &out
	}
	d.setTypeMeta(&out)
	d.setMeta(&out, modelName(reflect.TypeFor[metav1.ObjectMeta]()), metav1.PartialObjectMetadata{})
	if !root {
		out.SetProperty("apiVersion", describedAs(out.Properties["apiVersion"], embeddedVersionText))
		out.SetProperty("kind", describedAs(out.Properties["kind"], embeddedKindText))
		for _, name := range []string{"kind", "apiVersion"} {
			if !slices.Contains(out.Required, name) {
				out.Required = append(out.Required, name)
			}
		}
	}
	return &out
}

func (d *definitions) setMeta(s *spec.Schema, name string, docs documented) {
	s.SetProperty("metadata", describedAs(d.reference(name), docs.SwaggerDoc()["metadata"]))
}

func (d *definitions) setTypeMeta(s *spec.Schema) {
	docs := metav1.TypeMeta{}.SwaggerDoc()
	for _, name := range []string{"apiVersion", "kind"} {
		s.SetProperty(name, describedAs(*spec.StringProperty(), docs[name]))
	}
}

func describedAs(s spec.Schema, text string) spec.Schema {
	s.Description = text
	return s
}
