package registration

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Label says who keeps an APIService: OnStart or Always.
const (
	Label   = "kube-aggregator.kubernetes.io/automanaged"
	OnStart = "onstart"
	Always  = "true"
)

// API is what the controller needs of an API server. Errors are those of
// k8s.io/apimachinery/pkg/api/errors where a meaning is given: NotFound, Conflict, AlreadyExists.
type API interface {
	// Follow calls begin with the names of all APIServices that are stored, and then sink with those and
	// those of all local group versions, and with each one for which there may be something to do: it was
	// stored or deleted, its group version began or ceased to be local, or the service that it names
	// changed. Both are called from one goroutine. It may start again from the beginning, and returns when
	// ctx is done, or early with an error.
	Follow(ctx context.Context, begin func(stored []string), sink func(name string)) error
	// Local returns the APIService of that name as it should be, with its Label; nil if no group version
	// of that name is the server's own.
	Local(name string) *apiregistrationv1.APIService
	// Get returns the stored APIService; nil if there is none.
	Get(ctx context.Context, name string) (*apiregistrationv1.APIService, error)
	// Available says whether what the APIService names can be reached; its time isn't set.
	Available(s *apiregistrationv1.APIService) apiregistrationv1.APIServiceCondition
	// Create and Update store one. UpdateStatus stores its status only.
	Create(ctx context.Context, s *apiregistrationv1.APIService) (*apiregistrationv1.APIService, error)
	Update(ctx context.Context, s *apiregistrationv1.APIService) (*apiregistrationv1.APIService, error)
	UpdateStatus(ctx context.Context, s *apiregistrationv1.APIService) error
	// Delete deletes the one with the uid.
	Delete(ctx context.Context, name string, uid types.UID) error
}
