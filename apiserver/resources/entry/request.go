package entry

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Reference names an object. Namespace is empty for cluster-scoped resources.
type Reference struct {
	Resource        schema.GroupVersionResource
	Namespace, Name string
}

// Server is the interface of the server for hooks. The errors of its methods are API errors, or have a row in package
// status.
type Server interface {
	// Now returns the time of the server's clock.
	Now() time.Time
	// Get returns an object by a consistent read.
	Get(ctx context.Context, ref Reference) (Object, error)
	// List calls yield for the objects of a namespace, sorted by name, at a state that is at least as new as that of
	// the last Get or Current. It returns an error at an object that can't be decoded.
	List(ctx context.Context, resource schema.GroupVersionResource, namespace string, yield func(Object)) error
	// UID returns the UID of a stored object, even if the object can't be decoded as its kind.
	UID(ctx context.Context, ref Reference) (uid string, ok bool)
	// Authorizer authorizes users.
	Authorizer() authorization.Authorizer
	// Authenticate returns the user of a bearer token, and the audiences among the given ones for which the token is
	// valid. Without audiences it uses those of the server.
	Authenticate(ctx context.Context, token string, audiences []string) (authorization.User, []string, error)
	// Tokens signs the tokens of service accounts. It fails if there is no signing key.
	Tokens() (Tokens, error)
	// Fresh waits until List shows every write that was acknowledged before the call.
	Fresh(ctx context.Context) error
	// Ping returns nil if the storage is available.
	Ping(ctx context.Context) error
}

// Tokens signs the tokens of service accounts.
type Tokens interface {
	// Audiences returns the audiences of a token if the client requests none.
	Audiences() []string
	// Issue returns a signed token.
	Issue(authorization.TokenClaim) (string, error)
}

// Request is a POST that a hook handles. "The object of the request" is the one in its path.
type Request interface {
	Server
	Namespace() string
	Name() string
	User() authorization.User

	// DryRun returns the values of the option dryRun. SetDryRun replaces them, for bodies that contain options.
	DryRun() []string
	SetDryRun(values []string)

	// MatchNamespace sets the namespace of a body to that of the request, or returns an error if they differ (A-09,
	//
	MatchNamespace(body metav1.Object) error
	// CheckManagers limits and sorts the managedFields of a body.
	CheckManagers(body metav1.Object) error
	// Admit runs the mutating admission plugins on the body of the request, Validate the validating ones.
	Admit(ctx context.Context, body runtime.Object) error
	Validate(ctx context.Context, body runtime.Object) error

	// On returns the same request for a subresource of another object in the namespace. Admission plugins still receive
	// the path of the client's request.
	On(resource schema.GroupVersionResource, subresource, name string) (Request, error)
	// Current returns the object of the request, by a consistent read.
	Current(ctx context.Context) (Object, error)
	// Rewrite calls change with the object of the request, stores the result and returns its resourceVersion. It runs
	// no strategy, validation or admission, and records no managedFields. After a conflict it calls change again with
	// the newest state.
	Rewrite(ctx context.Context, change func(old Object) (Object, error)) (revision string, err error)
	// Delete deletes the object of the request.
	Delete(ctx context.Context, opts *metav1.DeleteOptions) error
	// Precondition returns the error 409 for a precondition of the request that does not hold (B-09).
	Precondition(what string, want, stored any) error
	// UpdateStatus changes the status of another object for the request, with the field manager kube-apiserver. After a
	// conflict it calls change again.
	UpdateStatus(ctx context.Context, ref Reference, change func(old Object) (Object, error)) error
}

// InfoOf returns a user as reviews show it.
func InfoOf(u authorization.User) authenticationv1.UserInfo { return authorization.InfoOf(u) }

// Reviews returns the entry of a kind of reviews, which are not stored: validate checks the admitted body, and answer
// completes it.
func Reviews[T any, P interface {
	*T
	Object
}](
	plural string, namespaced bool, validate func(Request, P) error, answer func(context.Context, Request, P),
) *Resource {
	create := func(ctx context.Context, r Request, body runtime.Object) (runtime.Object, error) {
		v := body.(P)
		if err := r.CheckManagers(v); err != nil {
			return nil, err
		}
		if r.Namespace() != "" {
			if err := r.MatchNamespace(v); err != nil {
				return nil, err
			}
		}
		if err := AdmitBody(ctx, r, v, func() error { return validate(r, v) }); err != nil {
			return nil, err
		}
		answer(ctx, r, v)
		return v, nil
	}
	return &Resource{
		Plural: plural, New: New[T, P], Namespaced: namespaced,
		Served: Served{Verbs: Post}, Storage: Storage{Virtual: true}, Hooks: Hooks{Create: create},
	}
}

// AdmitBody runs admission for the body of a request that is not stored. It calls validate between the mutating and the
// validating admission plugins: the storage validates other kinds at that point.
func AdmitBody(ctx context.Context, r Request, body runtime.Object, validate func() error) error {
	if err := r.Admit(ctx, body); err != nil {
		return err
	}
	if err := validate(); err != nil {
		return err
	}
	return r.Validate(ctx, body)
}
