package resources

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/storage"
)

// Builtin returns an entry for every resource that the server serves by default, wired to its
// defaults, rules and columns. The entries are the caller's own.
func Builtin() []*Resource {
	return slices.DeleteFunc(Every(nil), func(r *Resource) bool { return r.Off })
}

// Every returns the entries of Builtin and those of the versions that are only served when asked for. What
// isn't served is Off.
func Every(serve *Serving) []*Resource {
	all := byDefault()
	all = append(all, more(all)...)
	for _, r := range all {
		r.Off = !serve.serves(r.GroupVersion().WithResource(r.Plural), !r.Off)
	}
	return all
}

func byDefault() []*Resource {
	var all []*Resource
	for _, entries := range []func() []*Resource{
		core, apiregistration, apps, events, authentication, authorization, autoscaling, batch,
		certificates, networking, policy, rbac, storageGroup, admissionregistration, apiextensions,
		scheduling, coordination, node, discovery, dynamicResources, flowcontrol,
	} {
		all = append(all, entries()...)
	}
	wire(all)
	return all
}

// builtin seals the objects of all kinds with a Go type: versions of one resource share them.
var builtin = new(storage.Seal)

// group completes the entries of one group version with what follows from the rest: the kind's
// name is that of its Go type, the singular is the kind in lower case, the collection is named
// like the resource, all verbs are served and the stored kind is the served one, unless the
// entry says otherwise.
func group(gv schema.GroupVersion, entries ...*Resource) []*Resource {
	for _, r := range entries {
		r.Group, r.Version = gv.Group, gv.Version
		r.Kind = reflect.TypeOf(r.New()).Elem().Name()
		r.Singular = strings.ToLower(r.Kind)
		if r.Verbs == nil {
			r.Verbs = everything
		}
		if !r.Virtual {
			if r.Collection == "" {
				r.Collection = r.Plural
			}
			if r.Stored.Empty() {
				r.Stored = r.GroupVersionKind()
			}
		}
		r.Seal = builtin
		selectFields(r)
		r.Deprecated = deprecation(r.New(), r.GroupVersionKind())
		untyped, gvk := r.New, r.GroupVersionKind()
		r.New = func() runtime.Object {
			obj := untyped()
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			return obj
		}
	}
	return entries
}

// of makes an empty T.
func of[T any, P interface {
	*T
	runtime.Object
}]() runtime.Object {
	return P(new(T))
}

// Verbs as discovery prints them.
var (
	everything = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	modify     = []string{"get", "patch", "update"}
	post       = []string{"create"}
	stream     = []string{"create", "get"}
	tunnel     = []string{"create", "delete", "get", "patch", "update"}
)

// Categories.
var (
	inAll         = []string{"all"}
	apiExtensions = []string{"api-extensions"}
)

// Subresources that many kinds have.
var (
	status = Subresource{Name: "status", Verbs: modify, Action: Status}
	scale  = Subresource{Name: "scale", Verbs: modify, Action: Scale,
		Kind:       schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
		ScalePaths: ScalePaths{Replicas: "spec.replicas", StatusReplicas: "status.replicas", Selector: "spec.selector"}}
)

// withStatus is the list of subresources of most kinds that have any.
var withStatus = []Subresource{status}
