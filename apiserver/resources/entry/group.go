package entry

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/storage"
)

// builtin marks verified objects of all built-in kinds. The versions of a resource share it.
var builtin = new(storage.Verification)

// Group completes the entries of a group version. Unless the entry sets other values, the kind is the name of its Go
// type, the singular is the kind in lower case, the collection has the name of the resource, all verbs are served, and
// the stored kind is the served one.
func Group(gv schema.GroupVersion, entries ...*Resource) []*Resource {
	for _, r := range entries {
		r.Group, r.Version = gv.Group, gv.Version
		r.Kind = reflect.TypeOf(r.New()).Elem().Name()
		r.Singular = strings.ToLower(r.Kind)
		if r.Verbs == nil {
			r.Verbs = allVerbs
		}
		if !r.Virtual {
			if r.Collection == "" {
				r.Collection = r.Plural
			}
			if r.Stored.Empty() {
				r.Stored = r.GroupVersionKind()
			}
		}
		r.Verified = builtin
		selectFields(r)
		untyped, gvk := r.New, r.GroupVersionKind()
		r.New = func() runtime.Object { return Typed(untyped(), gvk) }
		r.Deprecated = Deprecation(r.New())
	}
	return entries
}

// New returns a function that returns an empty T.
func New[T any, P interface {
	*T
	runtime.Object
}]() runtime.Object {
	return P(new(T))
}

// The verbs in the order of discovery.
var (
	allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// Modify are the verbs of subresources that are part of the object. Post are those of requests that are not stored.
	// Stream and Tunnel are those of connections.
	Modify = []string{"get", "patch", "update"}
	Post   = []string{"create"}
	Stream = []string{"create", "get"}
	Tunnel = []string{"create", "delete", "get", "patch", "update"}
)

// Categories.
var (
	All           = []string{"all"}
	APIExtensions = []string{"api-extensions"}
)

// StatusWith returns the status subresource with a kind's hooks.
func StatusWith(hooks Subresource) Subresource {
	hooks.Name, hooks.Verbs, hooks.Action = "status", Modify, Status
	return hooks
}

// StatusSubresource returns the status subresource of a kind. prepare restores the fields that a write of the status
// may not change, and validate validates the others. Both may be nil.
func StatusSubresource[T any](prepare func(obj, old *T), validate func(obj, old *T) field.ErrorList) Subresource {
	var hooks Subresource
	if prepare != nil {
		hooks.PrepareUpdate = Change(prepare)
	}
	if validate != nil {
		hooks.ValidateUpdate = ValidateChange(validate)
	}
	return StatusWith(hooks)
}

// StatusOf returns the subresources of a kind that has only a status.
func StatusOf[T any](prepare func(obj, old *T), validate func(obj, old *T) field.ErrorList) []Subresource {
	return []Subresource{StatusSubresource(prepare, validate)}
}

// ScaleKind is the kind of the bodies of scale subresources. It is not the kind of a resource.
var ScaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// ScaleOf returns the scale subresource of workload kinds; absent is Subresource.Absent.
func ScaleOf(absent schema.GroupResource) Subresource {
	return Subresource{Name: "scale", Verbs: Modify, Action: Scale, Absent: absent,
		Kind:       ScaleKind,
		ScalePaths: ScalePaths{Replicas: "spec.replicas", StatusReplicas: "status.replicas", Selector: "spec.selector"}}
}
