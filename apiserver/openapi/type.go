package openapi

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Type is one served group-version-resource.
type Type struct {
	// Group is empty for the core group.
	Group, Version, Kind string
	// Plural is the name in paths: "deployments".
	Plural     string
	Namespaced bool
	// Verbs as discovery lists them: create, delete, deletecollection, get, list, patch, update, watch.
	Verbs []string
	// Object and List are empty objects of the kind and its list; nil for custom resources, and
	// List for what can't be listed.
	Object, List runtime.Object
	// DeletesReturnObject reports whether DELETE answers with the object and not with a Status.
	DeletesReturnObject bool
	Subresources        []Subresource

	// Custom is set for custom resources and nil for Go types.
	Custom *Custom
}

// Subresource is a path below an object.
type Subresource struct {
	// Name as in the path: "status".
	Name string
	// Verbs as discovery lists them: create, get, patch, update.
	Verbs []string
	// Kind of the bodies; empty means the resource's own.
	Kind schema.GroupVersionKind
	// Object is an empty object of that kind; nil means the resource's own.
	Object runtime.Object
	// Options are empty parameters of a connection; nil for other subresources. Proxied reports whether it has any method
	// and a path; a log is read with GET, and has the kind of the resource.
	Options runtime.Object
	Proxied bool
}

// Custom is what only a CustomResourceDefinition knows of its type.
type Custom struct {
	// ListKind is the kind of lists: "CronTabList".
	ListKind string
	// Sum identifies the schema: another schema has another sum.
	Sum string
	// Schema returns the structural schema in OpenAPI form, without what every object has; nil if objects may hold
	// anything. For v2 it is within what v2 can express, as apiextensions-apiserver's controller/openapi/v2 makes it. It
	// is called when a document is built. The result is not changed.
	Schema func(v2 bool) (*spec.Schema, error)
}

func (t *Type) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: t.Group, Version: t.Version}
}

func (t *Type) groupVersionKind() schema.GroupVersionKind {
	return t.groupVersion().WithKind(t.Kind)
}

// prefix returns the path of a group version: "/api/v1", "/apis/apps/v1".
func prefix(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}
