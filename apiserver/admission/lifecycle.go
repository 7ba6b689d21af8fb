package admission

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NamespaceState is the state of a namespace for NamespaceLifecycle.
type NamespaceState uint8

// The states.
const (
	NamespaceAbsent NamespaceState = iota
	NamespaceActive
	NamespaceTerminating
)

// Lifecycle is NamespaceLifecycle. It rejects the creation of objects in a namespace that does not exist or is
// terminating, and the deletion of immortal namespaces (B-72 to B-75). State is as fresh as a quorum read, so the
// plugin needs neither upstream's wait for a cache nor its live reads. The caller ensures that the namespace does not
// change before the object is stored.
type Lifecycle struct {
	// State returns the state of a namespace.
	State func(ctx context.Context, name string) (NamespaceState, error)
}

// immortal namespaces can't be deleted (E-05).
var immortal = map[string]bool{
	metav1.NamespaceDefault: true, metav1.NamespaceSystem: true, metav1.NamespacePublic: true,
}

// Admit rejects a request before other plugins process it, as in upstream.
func (l *Lifecycle) Admit(ctx context.Context, a *Attributes) error {
	namespaces := a.Resource.Group == "" && a.Resource.Plural == "namespaces"
	switch a.Operation {
	case Connect: // upstream's plugin does not handle it
		return nil
	case Update: // even in an absent namespace, so that finalizers can be removed there (V-106)
		return nil
	case Delete:
		if namespaces && immortal[a.Name] {
			return Forbidden(a, errors.New("this namespace may not be deleted")) // B-74
		}
		return nil
	}
	if namespaces || a.Namespace == "" || a.Resource.Group == "authorization.k8s.io" {
		return nil
	}
	state, err := l.State(ctx, a.Namespace)
	if err != nil {
		return &LookupError{What: "looking up namespace " + a.Namespace, Err: err}
	}
	switch {
	case state == NamespaceAbsent: // B-72
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, a.Namespace)
	case state == NamespaceTerminating: // B-73
		return terminating(a)
	}
	return nil
}

func terminating(a *Attributes) error {
	err := Forbidden(
		a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace),
	)
	var s *apierrors.StatusError
	if errors.As(err, &s) {
		s.ErrStatus.Details.Causes = append(s.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
			Field: "metadata.namespace",
		})
	}
	return err
}
