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

// The operations have the names of webhook rules.
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
	// Kind is that of the request's body: the served kind, or that of the subresource.
	Kind schema.GroupVersionKind
	// Name is empty if the name is to be generated.
	Name string
	// Object is the new state, nil for DELETE. Mutating plugins change it in place.
	Object runtime.Object
	// Old is the stored state, nil for CREATE and for DELETE.
	Old runtime.Object
	Deletion
	// Shape, if set, makes what webhooks and policies get instead of Object and Old.
	Shape Shape
	// Options are those of the request, as the client sent them: CreateOptions, UpdateOptions, PatchOptions or
	// DeleteOptions; nil if they are not known.
	Options runtime.Object
	User    authorization.User
	DryRun  bool
	Notes
	Progress
}

// Deletion is what only a DELETE has.
type Deletion struct {
	// Collection is set if the request deletes a collection: webhooks and policies then see no name (L-15).
	Collection bool
	// Stored returns the stored state for DELETE, which is decoded only if a webhook or policy gets it; else nil.
	Stored func() (runtime.Object, error)
}

// Notes take what plugins say beside their verdict.
type Notes struct {
	// Warn adds a Warning header to the response.
	Warn func(text string)
	// Audit takes annotations for the audit log; nil ignores them.
	Audit *audit.Record
}

// Progress is how far admission has come.
type Progress struct {
	// Validated reports whether the validating webhooks and policies have allowed the very object in an earlier attempt
	// to store it, which failed for another reason.
	Validated bool
	// Round is 0, and 1 while the mutating plugins run for the second time.
	Round int

	again bool
	kept  map[string]any
	// state is the result of State; taken reports whether there is one.
	state any
	taken bool

	failure []func()
}

// Shape is another form of the object of a request (the Scale of a deployment).
type Shape interface {
	// Show returns the other form of an object.
	Show(obj runtime.Object) (runtime.Object, error)
	// Put changes the object as its other form was changed.
	Put(obj, shown runtime.Object) error
	// Check validates the last other form that Put was given, after all mutations.
	Check(obj runtime.Object) error
}

// Again has all mutating plugins run once more when the last one has returned (L-53). There are two rounds at most.
func (a *Attributes) Again() { a.again = true }

// State returns what get has returned when State was called first: plugins that depend on a common state use the same
// one, in both rounds.
func (a *Attributes) State(get func() any) any {
	if !a.taken {
		a.state, a.taken = get(), true
	}
	return a.state
}

// Kept returns what a plugin keeps between the two rounds; first makes it.
func (a *Attributes) Kept(p Plugin, first func() any) any {
	if a.kept == nil {
		a.kept = map[string]any{}
	}
	kept, ok := a.kept[p.Name()]
	if !ok {
		kept = first()
		a.kept[p.Name()] = kept
	}
	return kept
}

// OnFailure registers a function that is called if the admitted write is not committed.
func (a *Attributes) OnFailure(undo func()) { a.failure = append(a.failure, undo) }

// Failed reports that the write was not and will not be committed. It calls the functions of OnFailure, the latest
// first, to undo what plugins wrote elsewhere for this write.
func (a *Attributes) Failed() {
	for i := len(a.failure) - 1; i >= 0; i-- {
		a.failure[i]()
	}
	a.failure = nil
}

// Plugin has a name, by which flags enable and disable it.
type Plugin interface{ Name() string }

// Mutator may change Attributes.Object.
type Mutator interface {
	Plugin
	Admit(ctx context.Context, a *Attributes) error
}

// Validator may reject the request, but not change it.
type Validator interface {
	Plugin
	Validate(ctx context.Context, a *Attributes) error
}

// Chain is the plugins in the order in which they run.
type Chain []Plugin

// ReadsNamespaces reports whether the chain reads the namespace of a request by a consistent read, after which the
// cache is as new.
func (c Chain) ReadsNamespaces() bool {
	return slices.ContainsFunc(c, func(p Plugin) bool { return p.Name() == "NamespaceLifecycle" })
}

// LookupError is returned by a plugin that could not look up what it needs. The client gets the error itself, not a
// 403.
type LookupError struct {
	// What was looked up, and the error.
	What string
	Err  error
}

// Error contains both.
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

// Forbidden is the error 403 for a request. It names the object, else its generateName, else "Unknown" (AS
// pkg/admission/errors.go: extractResourceName).
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
