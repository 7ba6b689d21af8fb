package hooks

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

// Reference names an object. Namespace is empty for cluster-scoped resources.
type Reference struct {
	Resource        schema.GroupVersionResource
	Namespace, Name string
}

// Server is what a hook may ask of the server that calls it. The errors of its methods are API errors, or have a row in
// package status.
type Server interface {
	// Now is the time of the server's clock.
	Now() time.Time
	// Get returns an object as of now.
	Get(ctx context.Context, ref Reference) (Object, error)
	// List calls yield for the objects of a namespace as of the last Get or Current, in the order of their names. An
	// object that can't be decoded ends it with an error.
	List(ctx context.Context, resource schema.GroupVersionResource, namespace string, yield func(Object)) error
	// UID returns the uid of an object that is stored; it need not be of its kind.
	UID(ctx context.Context, ref Reference) (uid string, ok bool)
	// Authorizer decides what users may do.
	Authorizer() auth.Authorizer
	// Authenticate returns the user of a bearer token, and for which of the audiences it is valid; no audiences are
	// those of the server.
	Authenticate(ctx context.Context, token string, audiences []string) (auth.User, []string, error)
	// Tokens signs the tokens of service accounts. The error says that there is no key for that.
	Tokens() (Tokens, error)
	// Ping returns nil if the storage answers.
	Ping(ctx context.Context) error
}

// Tokens signs the tokens of service accounts.
type Tokens interface {
	// Audiences are those of a token that names none.
	Audiences() []string
	// Issue returns the signed token.
	Issue(auth.Claim) (string, error)
}

// Request is a POST that a hook carries out. The object that the request names is the one in its path.
type Request interface {
	Server
	Namespace() string
	Name() string
	User() auth.User

	// DryRun returns the values of the option dryRun. SetDryRun replaces them, for bodies that have options.
	DryRun() []string
	SetDryRun(values []string)

	// MatchNamespace makes the namespace of a body that of the request, or fails.
	MatchNamespace(body metav1.Object) error
	// CheckManagers bounds and sorts the managedFields of a body.
	CheckManagers(body metav1.Object) error
	// Admit runs the mutating admission plugins on the body of the request, Validate the validating ones.
	Admit(ctx context.Context, body runtime.Object) error
	Validate(ctx context.Context, body runtime.Object) error

	// On is the same request for a subresource of another object in the namespace. Admission plugins still see what the
	// client has sent it to.
	On(resource schema.GroupVersionResource, subresource, name string) (Request, error)
	// Current returns the object that the request names, as of now.
	Current(ctx context.Context) (Object, error)
	// Rewrite stores what change makes of the object that the request names, without strategy, validation, admission
	// and managedFields. A conflict calls change again, with the newest state.
	Rewrite(ctx context.Context, change func(old Object) (Object, error)) error
	// Delete deletes the object that the request names.
	Delete(ctx context.Context, opts *metav1.DeleteOptions) error
	// Precondition is the 409 for a precondition of the request that does not hold (B-09).
	Precondition(what string, want, stored any) error
	// UpdateStatus changes the status of another object for the request, as the field manager kube-apiserver. A
	// conflict calls change again.
	UpdateStatus(ctx context.Context, ref Reference, change func(old Object) (Object, error)) error
}
