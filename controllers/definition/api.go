package definition

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// API is what the controller needs of an API server. Errors are those of
// k8s.io/apimachinery/pkg/api/errors where a meaning is given: NotFound, Conflict.
type API interface {
	// Follow calls sink, from one goroutine, with the name of every definition, and then with those for
	// which there may be something to do: it changed, an object of it went while it is being deleted, or
	// another definition of its group changed or went. It may start again from the beginning, and
	// returns when ctx is done, or early with an error.
	Follow(ctx context.Context, sink func(name string)) error
	// List returns all definitions: what UpdateStatus stored, and of what others store no less than Follow
	// has told of. They may be without their schemas, and may not be changed.
	List(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error)
	// Judge returns the definition with the names and conditions that it should have among the others,
	// nil if it has them.
	Judge(d *apiextensionsv1.CustomResourceDefinition, all []*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition
	// UpdateStatus stores status and finalizers; Conflict if the definition has changed meanwhile.
	UpdateStatus(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error)
	// Overlaps reports whether the definition's objects would be stored where the server's own are.
	Overlaps(d *apiextensionsv1.CustomResourceDefinition) bool
	// Namespaces returns those in which there are objects of the definition, once each; the empty name
	// stands for objects of the cluster.
	Namespaces(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) ([]string, error)
	// DeleteAll deletes the objects of the definition in a namespace.
	DeleteAll(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition, namespace string) error
}
