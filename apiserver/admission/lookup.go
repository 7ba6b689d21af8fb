package admission

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Lookup has the reads and writes of plugins. Reads are as fresh as a quorum read. Callers must not change the results.
type Lookup interface {
	Now() time.Time
	// Authorize decides whether a user has a permission.
	Authorize(*authorization.Attributes) authorization.Decision
	// Kinds returns the resources that serve a kind, stored or not, as in discovery. The kind may be in lower case.
	Kinds(schema.GroupVersionKind) []*resources.Resource

	// NamespaceState returns the state of the namespace.
	NamespaceState(ctx context.Context, name string) (NamespaceState, error)
	// NamespaceLabels returns the labels of the namespace, and reports whether it exists. They are at least as fresh as
	// the last NamespaceState of the request.
	NamespaceLabels(ctx context.Context, name string) (map[string]string, bool, error)

	// Any reports whether a namespace may have objects of a resource. False means that it had none when the request
	// read the namespace.
	Any(r schema.GroupVersionResource, namespace string) (bool, error)
	// Each calls yield for the objects of a resource in a namespace, or in all if it is empty. It omits objects that
	// can't be decoded, because a broken object must not prevent the creation of others.
	Each(ctx context.Context, r schema.GroupVersionResource, namespace string, yield func(runtime.Object)) error
	// Undecoded calls yield for the objects of a namespace, with the UID of the owner that controls the object, if
	// there is one. decode returns nil if it fails.
	Undecoded(ctx context.Context, r schema.GroupVersionResource, namespace string,
		yield func(controller string, decode func() runtime.Object)) error
	// Get returns an object, or nil if it does not exist within patience.
	Get(ctx context.Context, r schema.GroupVersionResource, namespace, name string, patience time.Duration) (
		runtime.Object, error)

	// UpdateStatus writes the status of a namespaced object as the server's user.
	UpdateStatus(ctx context.Context, r schema.GroupVersionResource, obj runtime.Object) error
}

// all returns a function that lists the objects of a resource in a namespace, or in all namespaces.
func all[T runtime.Object](l Lookup, r schema.GroupVersionResource) func(context.Context, string) ([]T, error) {
	return func(ctx context.Context, namespace string) (out []T, err error) {
		err = l.Each(ctx, r, namespace, func(obj runtime.Object) { out = append(out, obj.(T)) })
		return out, err
	}
}

// clusterObjects returns a function that lists the objects of a cluster-scoped resource.
func clusterObjects[T runtime.Object](l Lookup, r schema.GroupVersionResource) func(context.Context) ([]T, error) {
	list := all[T](l, r)
	return func(ctx context.Context) ([]T, error) { return list(ctx, "") }
}

// allIfAny is all for resources that few namespaces have. It makes no consistent read if the namespace has no objects.
func allIfAny[T runtime.Object](l Lookup, r schema.GroupVersionResource) func(context.Context, string) ([]T, error) {
	list := all[T](l, r)
	return func(ctx context.Context, namespace string) ([]T, error) {
		if some, err := l.Any(r, namespace); err != nil || !some {
			return nil, err
		}
		return list(ctx, namespace)
	}
}

// clusterObject returns a function that gets an object of a cluster-scoped resource, or nil.
func clusterObject[T runtime.Object](l Lookup, r schema.GroupVersionResource) func(context.Context, string) (T, error) {
	return func(ctx context.Context, name string) (none T, err error) {
		obj, err := l.Get(ctx, r, "", name, 0)
		if err != nil || obj == nil {
			return none, err
		}
		return obj.(T), nil
	}
}

// accountPatience is the time to wait for the default service account of a new namespace, which a controller creates (K
// plugin/pkg/admission/serviceaccount: getServiceAccount).
const accountPatience = 1500 * time.Millisecond

// accounts returns the function for ServiceAccount.Account.
func accounts(l Lookup) func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	r := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	return func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
		var patience time.Duration
		if name == defaultAccount {
			patience = accountPatience
		}
		obj, err := l.Get(ctx, r, namespace, name, patience)
		switch {
		case err != nil:
			return nil, err
		case obj == nil:
			return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
		}
		return obj.(*corev1.ServiceAccount), nil
	}
}

// storedPods returns the function for PodSecurity.Pods.
func storedPods(l Lookup) func(ctx context.Context, namespace string) ([]StoredPod, error) {
	r := corev1.SchemeGroupVersion.WithResource("pods")
	return func(ctx context.Context, namespace string) (out []StoredPod, err error) {
		err = l.Undecoded(ctx, r, namespace, func(controller string, decode func() runtime.Object) {
			out = append(out, StoredPod{Controller: controller, Read: func() *corev1.Pod {
				pod, _ := decode().(*corev1.Pod)
				return pod
			}})
		})
		return out, err
	}
}

// Dynamic has the plugins that are configured by objects: webhooks and policies (package dynamic).
type Dynamic interface {
	// Plugins returns the plugins in their order.
	Plugins() []Choice
	// Concerns reports whether a webhook or policy may apply to an operation on a resource or subresource. If none
	// does, and no other plugin acts on the write, it needs no admission.
	Concerns(res *resources.Resource, sub string, operation Operation, namespaced bool) bool
}
