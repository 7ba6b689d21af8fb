package apiservice

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Label says how the controller manages an APIService: OnStart or Always.
const (
	Label   = "kube-aggregator.kubernetes.io/automanaged"
	OnStart = "onstart"
	Always  = "true"
)

// API is the controller's interface to an API server. These errors of k8s.io/apimachinery/pkg/api/errors have a
// meaning: NotFound, Conflict, AlreadyExists.
type API interface {
	// Follow calls begin with the names of all stored APIServices, and then sink with those and those of all local
	// group versions, and then with each one that may need a pass: it was stored or deleted, its group version became
	// or ceased to be local, or the service that it names changed. Both are called from one goroutine. It may start
	// again from the beginning, and returns when ctx is done, or early with an error.
	Follow(ctx context.Context, begin func(stored []string), sink func(name string)) error
	// Local returns the APIService of that name as it should be, with its Label; nil if the server doesn't serve the
	// group version.
	Local(name string) *apiregistrationv1.APIService
	// Get returns the stored APIService; nil if there is none.
	Get(ctx context.Context, name string) (*apiregistrationv1.APIService, error)
	// Available returns whether the backend of the APIService can be reached; its time isn't set.
	Available(s *apiregistrationv1.APIService) apiregistrationv1.APIServiceCondition
	// Create and Update store an APIService. UpdateStatus stores its status only.
	Create(ctx context.Context, s *apiregistrationv1.APIService) (*apiregistrationv1.APIService, error)
	Update(ctx context.Context, s *apiregistrationv1.APIService) (*apiregistrationv1.APIService, error)
	UpdateStatus(ctx context.Context, s *apiregistrationv1.APIService) error
	// Delete deletes the one with the uid.
	Delete(ctx context.Context, name string, uid types.UID) error
}
