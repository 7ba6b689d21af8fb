package registry

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Object is an API object.
type Object = entry.Object

// Request has the properties that all requests for objects share, those of clients and of the in-process client.
// Creation, Change and Deletion add the properties of one operation.
type Request struct {
	Target
	User authorization.User
	Warn *invalid.Warnings
	// Audit is the request's record in the audit log. It is nil if the request is not recorded.
	Audit  *audit.Record
	DryRun bool
	// Sender describes the request to package trail. It is nil if only the user is known.
	Sender Sender
}

// attributes returns the admission attributes of the request. options are the options that the client sent, or nil.
func (r *Request) attributes(op admission.Operation, obj, old, options runtime.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: op, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name, Kind: r.Resource.GroupVersionKind(),
		Object: obj, Old: old, User: r.User, DryRun: r.DryRun, Options: options,
		Notes: admission.Notes{Warn: r.Warn.Add, Audit: r.Audit},
	}
	if sub := r.Subresource; sub != nil {
		a.Subresource = sub.Name
		if !sub.Kind.Empty() {
			a.Kind = sub.Kind
		}
	}
	return a
}

// warnOf adds the warnings of the kind or the subresource. old is nil on create.
func (r *Request) warnOf(obj, old runtime.Object) {
	w := r.Resource.Strategy.Warnings
	if r.Subresource != nil {
		w = r.Subresource.Warnings
	}
	if w == nil {
		return
	}
	for _, message := range w(obj, old) {
		r.Warn.Add(message)
	}
}

// precondition returns the error of upstream's storage, which compares uids first (B-09). In a dry run the key has no
// root (AS registry/dryrun.go).
func (r *Request) precondition(root, what string, want, stored any) error {
	if r.DryRun {
		root = ""
	}
	return r.Conflict(fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: %s in precondition: %v, %s in object meta: %v",
		r.Key(root), what, want, what, stored))
}

// IsDryRun reports whether the values of the option dryRun request a dry run.
func IsDryRun(values []string) bool {
	return len(values) > 0 && strings.EqualFold(values[0], metav1.DryRunAll)
}

// Target is the resource, subresource or object that a request's path names.
type Target struct {
	Resource    *resources.Resource
	Subresource *resources.Subresource
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace, Name string
	// Watch is set by the legacy paths /api/v1/watch/... .
	Watch bool
	// Rest is the rest of the path after a subresource (proxy).
	Rest string
}

// Key returns the etcd key of the named object. If t has no name, it returns the prefix of the collection, which ends
// with a slash.
func (t Target) Key(root string) string {
	k := root + "/" + t.Resource.Collection + "/"
	if t.Namespace != "" {
		k += t.Namespace + "/"
	}
	return k + t.Name
}

// path returns the URL path of the target.
func (t Target) path() string {
	p := "/apis/" + t.Resource.Group
	if t.Resource.Group == "" {
		p = "/api"
	}
	p += "/" + t.Resource.Version
	if t.Namespace != "" {
		p += "/namespaces/" + t.Namespace
	}
	p += "/" + t.Resource.Plural
	if t.Name != "" {
		p += "/" + t.Name
	}
	if t.Subresource != nil {
		p += "/" + t.Subresource.Name
	}
	return p
}

func (t Target) subName() string {
	if t.Subresource == nil {
		return ""
	}
	return t.Subresource.Name
}

// LongRunning reports whether requests of the verb have no deadline (0-13).
func LongRunning(verb string) bool {
	return verb == "watch" || verb == "list" || verb == "deletecollection"
}

// Serves reports whether the verb is served at the target.
func (t Target) Serves(verb string) bool {
	if t.Watch && verb != "watch" {
		return false
	}
	if t.Subresource != nil {
		return t.Subresource.Has(verb)
	}
	named := t.Name != ""
	switch verb {
	case "create", "deletecollection":
		// A write to a namespaced collection needs a namespace.
		if named || t.Resource.Namespaced && t.Namespace == "" {
			return false
		}
	case "update", "patch", "delete":
		if !named {
			return false
		}
	}
	return t.Resource.Has(verb)
}

// NotFound returns the error 0-02.
func (t Target) NotFound() error { return apierrors.NewNotFound(t.Resource.GroupResource(), t.Name) }

// Conflict returns the error 0-05.
func (t Target) Conflict(cause error) error {
	return apierrors.NewConflict(t.Resource.GroupResource(), t.Name, cause)
}

// CheckName compares the name in the body with the one in the path (B-02).
func (t Target) CheckName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided",
			t.Name)
	case name != t.Name:
		return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, t.Name)
	}
	return nil
}

// MatchNamespace sets the object's namespace to the request's, or returns an error if they differ.
func (t Target) MatchNamespace(m metav1.Object) error {
	switch {
	case !t.Resource.Namespaced:
		m.SetNamespace("")
	case m.GetNamespace() == "":
		m.SetNamespace(t.Namespace)
	case m.GetNamespace() != t.Namespace:
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}
