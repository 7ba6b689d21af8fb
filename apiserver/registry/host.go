package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validation/path"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// host implements entry.Server.
type host struct{ s *Registry }

func (h host) Now() time.Time                       { return h.s.Now() }
func (h host) Authorizer() authorization.Authorizer { return h.s.Authorizer }
func (h host) Ping(ctx context.Context) error       { _, err := h.s.Store.Revision(ctx); return err }
func (h host) Fresh(ctx context.Context) error      { return h.s.Fresh(ctx) }

// Get implements entry.Server.
func (h host) Get(ctx context.Context, ref entry.Reference) (Object, error) {
	t, err := h.s.target(ref)
	if err != nil {
		return nil, err
	}
	return h.s.read(ctx, t)
}

// List implements entry.Server.
func (h host) List(_ context.Context, resource schema.GroupVersionResource, namespace string,
	yield func(Object)) error {
	t, err := h.s.target(entry.Reference{Resource: resource, Namespace: namespace})
	if err != nil {
		return err
	}
	failed := h.s.ascend(t, func(item *storage.Object) bool {
		var obj Object
		if obj, err = Decode(t.Resource, item); err != nil {
			return false
		}
		yield(obj)
		return true
	})
	return cmp.Or(failed, err)
}

// UID implements entry.Server.
func (h host) UID(ctx context.Context, ref entry.Reference) (uid string, ok bool) {
	uid, _, ok = h.s.Bound(ctx, ref.Resource, ref.Namespace, ref.Name)
	return uid, ok
}

// Authenticate implements entry.Server.
func (h host) Authenticate(
	ctx context.Context, token string, audiences []string,
) (authorization.User, []string, error) {
	return h.s.Authenticate(ctx, token, audiences)
}

// Tokens implements entry.Server.
func (h host) Tokens() (entry.Tokens, error) {
	if h.s.Tokens == nil {
		return nil, status.ErrNoTokens
	}
	return h.s.Tokens, nil
}

// Bound looks up an object to which a token is bound. If the cache does not have it, Bound makes a consistent read,
// because clients use tokens immediately after they create the service account.
func (s *Registry) Bound(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (
	uid string, deletion time.Time, ok bool,
) {
	res := s.entry(resource)
	if res == nil || len(path.IsValidPathSegmentName(name)) > 0 || len(path.IsValidPathSegmentName(namespace)) > 0 {
		return "", time.Time{}, false
	}
	o, err := s.cached(ctx, Target{Resource: res, Namespace: namespace, Name: name}.Key(s.Root))
	if err != nil || o == nil {
		return "", time.Time{}, false
	}
	return o.Meta.UID, o.Meta.Deletion, o.Err == nil
}

// target resolves the reference that a hook passes.
func (s *Registry) target(ref entry.Reference) (Target, error) {
	res := s.entry(ref.Resource)
	if res == nil {
		return Target{}, errors.New(ref.Resource.Resource + " are not served")
	}
	return Target{Resource: res, Namespace: ref.Namespace, Name: ref.Name}, nil
}

// read returns an object, decoded, by a consistent read.
func (s *Registry) read(ctx context.Context, t Target) (Object, error) {
	cur, err := s.Get(ctx, t, "")
	if err != nil {
		return nil, err
	}
	return Decode(t.Resource, cur)
}

// GetVirtual returns an object of a resource that is not stored. It has no resourceVersion.
func (s *Registry) GetVirtual(ctx context.Context, t Target) (*storage.Object, error) {
	items, err := s.virtual(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Meta.Name == t.Name && item.Meta.Namespace == t.Namespace {
			return item, nil
		}
	}
	return nil, t.Resource.Hooks.Objects.NotFound(t.Namespace, t.Name)
}

// ListVirtual returns the selected objects of a resource that is not stored.
func (s *Registry) ListVirtual(ctx context.Context, t Target, o *metainternal.ListOptions) ([]*storage.Object, error) {
	sel, err := s.SelectionOf(t, o)
	if err != nil {
		return nil, err
	}
	items, err := s.virtual(ctx, t)
	return slices.DeleteFunc(items, func(o *storage.Object) bool { return !sel.Matches(o) }), err
}

// virtual returns the objects of a target whose resource is not stored.
func (s *Registry) virtual(ctx context.Context, t Target) (out []*storage.Object, err error) {
	if t.Resource.Hooks.Objects.List == nil {
		return nil, status.ErrNoMethod
	}
	objs, err := t.Resource.Hooks.Objects.List(ctx, host{s}, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	for _, obj := range objs {
		data, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		out = append(out, &storage.Object{JSON: data,
			Meta: storage.Meta{Kind: kind, APIVersion: version, Namespace: obj.GetNamespace(), Name: obj.GetName(),
				Labels: obj.GetLabels()}})
	}
	return out, nil
}
