package fairness

import (
	"context"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Producer and Consumer are the field managers of the objects' specs and of the conditions.
const (
	Producer = "api-priority-and-fairness-config-producer-v1"
	Consumer = "api-priority-and-fairness-config-consumer-v1"
)

// Object is a FlowSchema or a PriorityLevelConfiguration.
type Object interface {
	metav1.Object
	runtime.Object
}

// API is the controller's interface to an API server. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	// Follow calls sink with the names of all FlowSchemas, and then with those that may need a pass: a FlowSchema or a
	// priority level was changed. It returns when ctx is done, or early with an error.
	Follow(ctx context.Context, sink func(schema string)) error
	// Changes are the changes of objects that the check of mandatory and suggested objects may answer.
	Changes() reconcile.Changes
	// Schemas and Levels return all stored objects. They must not be changed.
	Schemas() ([]*flowcontrolv1.FlowSchema, error)
	Levels() ([]*flowcontrolv1.PriorityLevelConfiguration, error)
	// Schema returns one FlowSchema, nil if there is none. HasLevel reports whether a priority level is stored.
	Schema(name string) (*flowcontrolv1.FlowSchema, error)
	HasLevel(name string) bool
	// ApplyStatus applies a FlowSchema's status as the Consumer, by force.
	ApplyStatus(ctx context.Context, s *flowcontrolv1.FlowSchema) error
	// Create and Update store an object as the Producer. Delete deletes it.
	Create(ctx context.Context, o Object) error
	Update(ctx context.Context, o Object) error
	Delete(ctx context.Context, o Object) error
}
