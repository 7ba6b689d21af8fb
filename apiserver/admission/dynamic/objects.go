package dynamic

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Objects reads the params and namespaces that policies get. Callers must not change the results.
type Objects interface {
	// One returns a stored object, or nil if it does not exist. It is as new as a consistent read by the same request.
	One(ctx context.Context, res *resources.Resource, namespace, name string) (*storage.Object, error)
	// Each calls yield for the stored objects of a resource in the cache, in the order of their names. An empty
	// namespace selects all namespaces.
	Each(res *resources.Resource, namespace string, yield func(*storage.Object)) error
	// Served returns a stored object in the version of a resource, with its kind and defaults.
	Served(res *resources.Resource, o *storage.Object) (runtime.Object, error)
}

// Limits of a memory, in bytes of stored JSON: for all objects, and for one.
const (
	maxRemembered = 1 << 20
	maxOne        = maxRemembered / 8
)

// memory caches decoded objects. It may be used by any goroutine.
type memory struct {
	mu   sync.Mutex // guards held and size
	held map[place]remembered
	size int
}

// place identifies a stored object in the version of a resource. It has the kind instead of the resource's entry,
// because each change of a CustomResourceDefinition makes a new entry, and a key would keep the old one in memory.
type place struct {
	kind schema.GroupVersionKind
	key  string
}

type remembered struct {
	res      *resources.Resource
	revision int64
	object   runtime.Object
	size     int
}

// get returns a stored object as decode returns it. It decodes each revision once, while the memory has space.
func (m *memory) get(
	res *resources.Resource, o *storage.Object, decode func() (runtime.Object, error),
) (runtime.Object, error) {
	at := place{res.GroupVersionKind(), o.Key}
	m.mu.Lock()
	found := m.held[at]
	m.mu.Unlock()
	if found.object != nil && found.res == res && found.revision == o.Revision {
		return found.object, nil
	}
	obj, err := decode()
	if err != nil || len(o.JSON) > maxOne {
		return obj, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += len(o.JSON) - m.held[at].size; m.held == nil || m.size > maxRemembered {
		m.held, m.size = map[place]remembered{}, len(o.JSON)
	}
	m.held[at] = remembered{res, o.Revision, obj, len(o.JSON)}
	return obj, nil
}

// namespaceObject returns the namespace of the request for expressions. It is nil if the request has none or is for a
// namespace (M-33). An absent namespace is an error, independent of the failure policy (M-37).
func (q *request) namespaceObject(ctx context.Context) (*corev1.Namespace, error) {
	if q.namespace == "" || q.a.Kind == corev1.SchemeGroupVersion.WithKind("Namespace") {
		return nil, nil
	}
	res := q.d.Types.Lookup(namespaces.Group, namespaces.Version, namespaces.Resource)
	o, err := q.d.Objects.One(ctx, res, "", q.namespace)
	if err != nil {
		return nil, &admission.LookupError{What: "looking up namespace " + q.namespace, Err: err}
	}
	if o == nil {
		return nil, apierrors.NewNotFound(namespaces.GroupResource(), q.namespace)
	}
	obj, err := q.d.namespaces.get(res, o, func() (runtime.Object, error) { return q.d.Objects.Served(res, o) })
	if err != nil {
		return nil, &admission.LookupError{What: "looking up namespace " + q.namespace, Err: err}
	}
	return obj.(*corev1.Namespace), nil
}
