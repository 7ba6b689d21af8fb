package expression

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Request has the data of a request, besides its objects, that expressions can use (L-44).
type Request struct {
	// Operation is CREATE, UPDATE, DELETE or CONNECT.
	Operation string
	// Kind and Resource are those of the request. Subresource is empty for the resource itself.
	Kind        schema.GroupVersionKind
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace and Name are empty if the request has none. For a Namespace, both are its name.
	Namespace, Name string
	// Options are the CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with their kind and apiVersion, or
	// nil.
	Options runtime.Object
	DryRun  bool
	User    authorization.User
}

// Version is a request with its objects in the version that a webhook or policy matched. It is not safe for concurrent
// use.
type Version struct {
	// Kind and Resource are the matched ones.
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource

	// typed has the objects that were passed to In.
	typed *admission.VersionedAttributes
}

// In returns the request with its objects in a version. kind and apiVersion of the objects must be set. Each object is
// nil if it does not exist. They must not be changed while the Version is in use.
func (r *Request) In(
	kind schema.GroupVersionKind, resource schema.GroupVersionResource, object, old runtime.Object,
) *Version {
	return &Version{Kind: kind, Resource: resource, typed: &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(object, old, r.Kind, r.Namespace, r.Name, r.Resource, r.Subresource,
			admission.Operation(r.Operation), r.Options, r.DryRun, &r.User),
		VersionedKind:      kind,
		VersionedObject:    admission.NewLazyObject(object),
		VersionedOldObject: admission.NewLazyObject(old),
	}}
}

// Bindings are the values of variables that only some expressions have.
type Bindings struct {
	// Params is the object of the binding, in the version of paramKind and with its kind. If it is nil, params is null.
	Params runtime.Object
	// Authorizer must not be nil.
	Authorizer Authorizer
	// Namespace is the namespace of the request. It is nil if the request has none or is for a Namespace (M-33).
	Namespace *corev1.Namespace
	// whole reports whether namespaceObject has all fields of the namespace.
	whole bool
}

// optional returns the values in the form that upstream's packages require.
func (b Bindings) optional() plugincel.OptionalVariableBindings {
	return plugincel.OptionalVariableBindings{VersionedParams: b.Params, Authorizer: b.Authorizer}
}
