package crd

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// API is the controller's interface to an API server. These errors of k8s.io/apimachinery/pkg/api/errors have a
// meaning: NotFound, Conflict.
type API interface {
	// Follow calls sink, from one goroutine, with the name of every CRD, and then with those that may need a pass: a
	// CRD changed, one of its objects was deleted while the CRD is being deleted, or another CRD of its group changed
	// or was deleted. It may start again from the beginning, and returns when ctx is done, or early with an error.
	Follow(ctx context.Context, sink func(name string)) error
	// List returns all CRDs: everything that UpdateStatus has stored, and what others have stored at least as new as
	// Follow has sent. They may lack their schemas, and must not be changed.
	List(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error)
	// Evaluate returns the CRD with the names and conditions that it should have among the others, nil if it has them
	// already. now is the time of conditions that change.
	Evaluate(
		d *apiextensionsv1.CustomResourceDefinition, all []*apiextensionsv1.CustomResourceDefinition, now metav1.Time,
	) *apiextensionsv1.CustomResourceDefinition
	// UpdateStatus stores status and finalizers; Conflict if the CRD has changed meanwhile.
	UpdateStatus(
		ctx context.Context, d *apiextensionsv1.CustomResourceDefinition,
	) (*apiextensionsv1.CustomResourceDefinition, error)
	// Overlaps reports whether the CRD's objects would have the storage keys of built-in ones.
	Overlaps(d *apiextensionsv1.CustomResourceDefinition) bool
	// Namespaces returns the namespaces with objects of the CRD, each once; the empty name stands for cluster-scoped
	// objects.
	Namespaces(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition) ([]string, error)
	// DeleteAll deletes the CRD's objects in a namespace.
	DeleteAll(ctx context.Context, d *apiextensionsv1.CustomResourceDefinition, namespace string) error
}
