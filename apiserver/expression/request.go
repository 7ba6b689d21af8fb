package expression

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Request is what expressions see of a request, besides its objects (L-44).
type Request struct {
	// Operation is CREATE, UPDATE, DELETE or CONNECT.
	Operation string
	// Kind and Resource are those of the request; Subresource is empty for the resource itself.
	Kind        schema.GroupVersionKind
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace and Name are empty where the request has none. A Namespace is in itself.
	Namespace, Name string
	// Options are the CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with their kind and apiVersion; nil
	// for none.
	Options runtime.Object
	DryRun  bool
	User    authorization.User
}

// Version is a request with its objects in the version that a webhook or policy matched. It is not safe for concurrent
// use.
type Version struct {
	// Kind and Resource are those that the webhook or policy matched.
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource

	// typed has the objects as they were given.
	typed     *admission.VersionedAttributes
	converted converted
}

// In returns the request with its objects in a version. They have the kind, and typed ones kind and apiVersion set.
// Both are nil if they are absent. They must not be changed while the Version is in use.
func (r *Request) In(
	kind schema.GroupVersionKind, resource schema.GroupVersionResource, object, old runtime.Object,
) *Version {
	return &Version{Kind: kind, Resource: resource, typed: &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, old, r.Kind, r.Namespace, r.Name, r.Resource, r.Subresource,
			admission.Operation(r.Operation), r.Options, r.DryRun, userOf(r.User)),
		VersionedKind:      kind,
		VersionedObject:    admission.NewLazyObject(object),
		VersionedOldObject: admission.NewLazyObject(old),
	}}
}

// fields returns an object as it is in JSON, nil for none. It shares memory with an unstructured object.
func fields(object runtime.Object) (any, error) {
	if object == nil || reflect.ValueOf(object).IsNil() {
		return nil, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// Bindings are the values of variables that not all expressions have.
type Bindings struct {
	// Params is the object that the binding names, in the version of paramKind and with its kind; nil is null.
	Params runtime.Object
	// Authorizer is not nil.
	Authorizer Authorizer
	// Namespace is that of the request; nil for requests without one and for those that are for namespaces (M-33).
	Namespace *corev1.Namespace
	// whole says that namespaceObject has all fields of the namespace.
	whole bool
}
