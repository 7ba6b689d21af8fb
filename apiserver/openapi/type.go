package openapi

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Type is one served type.
type Type struct {
	// Group is empty for the core group.
	Group, Version, Kind string
	// Plural is the name in paths: "deployments".
	Plural     string
	Namespaced bool
	// Verbs are the verbs in discovery: create, delete, deletecollection, get, list, patch, update, watch.
	Verbs []string
	// Object and List are empty objects of the kind and of its list. They are nil for custom resources, and List is nil
	// for a type that can't be listed.
	Object, List runtime.Object
	// DeletesReturnObject reports whether a DELETE returns the object, not a Status.
	DeletesReturnObject bool
	Subresources        []Subresource

	// Custom is set for custom resources, and nil for Go types.
	Custom *Custom
}

// Subresource is a path below an object.
type Subresource struct {
	// Name is the name in the path: "status".
	Name string
	// Verbs are the verbs in discovery: create, get, patch, update.
	Verbs []string
	// Kind is the kind of the bodies. If it is empty, it is the resource's own.
	Kind schema.GroupVersionKind
	// Object is an empty object of that kind. If it is nil, it is the resource's own.
	Object runtime.Object
	// Options are the parameters of a connection, and nil for other subresources. Proxied reports whether the
	// connection has all methods and a path. A log is not proxied: it has only GET, and no Kind.
	Options runtime.Object
	Proxied bool
}

// Custom has the properties of a type that only its CRD has.
type Custom struct {
	// ListKind is the kind of lists: "CronTabList".
	ListKind string
	// Sum identifies the schema. Different schemas have different sums.
	Sum string
	// Schema returns the structural schema in OpenAPI form, without apiVersion, kind and metadata, or nil if objects
	// may have any fields. For v2 it has only what v2 can express, as apiextensions-apiserver's controller/openapi/v2
	// converts it. It is called when a document is built. The result is not changed.
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
