package openapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
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

var (
	customTypes      = []string{"application/json", "application/yaml"}
	customPatchTypes = []string{
		"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
	}
)

// addCustom makes the operations of a custom resource. Upstream makes them by other code than those of Go types (AX
// pkg/controller/openapi/builder), with less content: no watch paths, no protobuf, no strategic merge patch.
func (o *operations) addCustom(t *Type) {
	object, list, err := o.definitions.addCustom(t)
	if err != nil {
		o.errs = append(o.errs, err)
		return
	}
	kind := metav1.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind}
	e := endpoint{o, t, "", t.Verbs, object, kind, prefix(t.groupVersion())}
	path, namespaced := "/"+t.Plural, ""
	if t.Namespaced {
		e.customList(path, "", "ForAllNamespaces", list)
		path, namespaced = "/namespaces/{namespace}"+path, "Namespaced"
	}
	e.customCollection(path, namespaced, list)
	e.customItem(path+"/{name}", namespaced)
	for _, s := range t.Subresources {
		e := e
		e.sub, e.verbs = s.Name, s.Verbs
		if s.Name == "scale" {
			e.object = o.model(autoscalingv1.Scale{})
		}
		e.customItem(path+"/{name}/"+s.Name, namespaced)
	}
}

func (e *endpoint) customRoute(method, path, action, id, text string) *route {
	r := e.route(method, path, action, id, text)
	r.consumes, r.produces = customTypes, customTypes
	return r
}

func (e *endpoint) customList(path, namespaced, suffix string, list model) {
	if slices.Contains(e.verbs, "list") {
		r := e.customRoute(
			"GET", path, "list", e.scope.id("list", e.name(namespaced)+suffix), "list objects of kind "+e.typ.Kind,
		)
		r.query(e.queries.list...).answer(200, list)
	}
}

func (e *endpoint) customCollection(path, namespaced string, list model) {
	e.customList(path, namespaced, "", list)
	if slices.Contains(e.verbs, "create") {
		r := e.customRoute(
			"POST", path, "post", e.scope.id("create", e.name(namespaced)), e.described("create", "", article(e.typ.Kind)),
		)
		r.query(e.queries.create...).read(e.object, true)
		r.answer(200, e.object).answer(201, e.object).answer(202, e.object)
	}
	if slices.Contains(e.verbs, "deletecollection") {
		r := e.customRoute(
			"DELETE", path, "deletecollection", e.scope.id("delete", "Collection"+e.name(namespaced)),
			"delete collection of "+e.typ.Kind,
		)
		r.query(e.queries.list...).answer(200, e.model(metav1.Status{}))
	}
}

func (e *endpoint) customItem(path, namespaced string) {
	kind := e.typ.Kind
	id := func(verb string) string { return e.scope.id(verb, e.name(namespaced)) }
	if slices.Contains(e.verbs, "get") {
		r := e.customRoute("GET", path, "get", id("read"), e.described("read", "the specified ", kind))
		r.query(e.queries.get...).answer(200, e.object)
	}
	if slices.Contains(e.verbs, "update") {
		r := e.customRoute("PUT", path, "put", id("replace"), e.described("replace", "the specified ", kind))
		r.query(e.queries.update...).read(e.object, true).answer(200, e.object).answer(201, e.object)
	}
	if slices.Contains(e.verbs, "patch") {
		r := e.customRoute("PATCH", path, "patch", id("patch"), e.described("partially update", "the specified ", kind))
		r.consumes = customPatchTypes
		r.query(e.queries.patch...).read(e.model(metav1.Patch{}), true).answer(200, e.object)
	}
	if slices.Contains(e.verbs, "delete") {
		status := e.model(metav1.Status{})
		r := e.customRoute("DELETE", path, "delete", id("delete"), e.described("delete", "", article(kind)))
		r.query(e.queries.delete...).read(e.model(metav1.DeleteOptions{}), false).answer(200, status).answer(202, status)
	}
}

// addCustom makes the schemas of a custom resource and its list, and returns their names.
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
