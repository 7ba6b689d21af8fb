package admission

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Operation is the operation of a request.
type Operation string

// The operations, by their names in webhook rules.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes describe a request to the plugins.
type Attributes struct {
	Operation   Operation
	Resource    *resources.Resource
	Subresource string
	Namespace   string
	// Kind is the kind of the request's body: the served kind, or the subresource's.
	Kind schema.GroupVersionKind
	// Name is empty if the name will be generated.
	Name string
	// Object is the new state. It is nil for DELETE. Mutating plugins change it in place.
	Object runtime.Object
	// Old is the stored state. It is nil for CREATE and for DELETE.
	Old runtime.Object
	Deletion
	// Shape converts Object and Old to the form that webhooks and policies get, or is nil if they get Object and Old.
	Shape Shape
	// Options are the options that the client sent: CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. They
	// are nil if they are not known.
	Options runtime.Object
	User    authorization.User
	DryRun  bool
	Notes
	Progress
}

// Deletion has the attributes of a DELETE.
type Deletion struct {
	// Collection is set if the request deletes a collection. Then webhooks and policies get no name (L-15).
	Collection bool
	// Stored returns the stored state, decoded when a webhook or policy gets it. It is nil for other operations.
	Stored func() (runtime.Object, error)
}

// Notes receives the warnings and audit annotations of plugins.
type Notes struct {
	// Warn adds a Warning header to the response.
	Warn func(text string)
	// Audit receives annotations for the audit log. If it is nil, they are ignored.
	Audit *audit.Record
}

// Progress is the state of the admission of one request.
type Progress struct {
	// Validated is true if the validating webhooks and policies have allowed the same object in an earlier attempt,
	// which failed for another reason.
	Validated bool
	// Round is 1 while the mutating plugins run for the second time, otherwise 0.
	Round int

	again bool
	kept  map[any]any // by plugin
	// state is the result of State. taken reports whether it is set.
	state any
	taken bool

	failure []func()
}

// Shape is another form of the object of a request, such as the Scale of a Deployment.
type Shape interface {
	// Show returns the other form of an object.
	Show(obj runtime.Object) (runtime.Object, error)
	// Put applies the changes of the other form to the object.
	Put(obj, shown runtime.Object) error
	// Check validates the form of the last Put, after all mutations.
	Check(obj runtime.Object) error
}

// Again requests a second run of all mutating plugins, after the first (L-53). There are at most two runs.
func (a *Attributes) Again() { a.again = true }

// State calls get in its first call, and returns the same result in later calls. So plugins that share a state use the
// same state in both rounds.
func (a *Attributes) State(get func() any) any {
	if !a.taken {
		a.state, a.taken = get(), true
	}
	return a.state
}

// Kept returns the value that a plugin, which must be comparable, keeps for the second round. The first call creates it
// with first.
func (a *Attributes) Kept(plugin any, first func() any) any {
	if a.kept == nil {
		a.kept = map[any]any{}
	}
	kept, ok := a.kept[plugin]
	if !ok {
		kept = first()
		a.kept[plugin] = kept
	}
	return kept
}

// OnFailure registers a function that Failed calls.
func (a *Attributes) OnFailure(undo func()) { a.failure = append(a.failure, undo) }

// Failed must be called if the write was not committed and will not be. It calls the functions that OnFailure
// registered, the latest first. They undo writes that plugins made for the request.
func (a *Attributes) Failed() {
	for i := len(a.failure) - 1; i >= 0; i-- {
		a.failure[i]()
	}
	a.failure = nil
}

// Mutator is a plugin that may change Attributes.Object.
type Mutator interface {
	Admit(ctx context.Context, a *Attributes) error
}

// Validator is a plugin that may reject the request, but not change it.
type Validator interface {
	Validate(ctx context.Context, a *Attributes) error
}

// Chain has the plugins in the order in which they run.
type Chain []Choice

// ReadsNamespaces reports whether the chain makes a consistent read of the request's namespace. After that the cache is
// as new as the read.
func (c Chain) ReadsNamespaces() bool {
	return slices.ContainsFunc(c, func(p Choice) bool { return p.Name == "NamespaceLifecycle" })
}

// LookupError is the error of a plugin that failed to look up an object. The client gets this error, not a 403.
type LookupError struct {
	// What describes the look-up.
	What string
	Err  error
}

// Error returns the description and the error.
func (e *LookupError) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LookupError) Unwrap() error { return e.Err }

// denied wraps a plugin's plain error in a 403 that names the object (0-08).
func denied(a *Attributes, err error) error {
	var s apierrors.APIStatus
	var l *LookupError
	if errors.As(err, &s) || errors.As(err, &l) {
		return err
	}
	return Forbidden(a, err)
}

// Forbidden returns the error 403 for a request. The error has the object's name, otherwise its generateName, otherwise
// "Unknown" (AS pkg/admission/errors.go: extractResourceName).
func Forbidden(a *Attributes, err error) error {
	name := a.Name
	if a.Collection || name == "" {
		name = nameOf(a.Object)
	}
	return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
}

func nameOf(obj runtime.Object) string {
	if obj == nil {
		return "Unknown"
	}
	m, err := meta.Accessor(obj)
	switch {
	case err != nil:
	case m.GetName() != "":
		return m.GetName()
	case m.GetGenerateName() != "":
		return m.GetGenerateName()
	}
	return "Unknown"
}
