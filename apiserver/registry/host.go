package registry

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// host implements hooks.Server.
type host struct{ s *Registry }

func (h host) Now() time.Time                       { return h.s.Now() }
func (h host) Authorizer() authorization.Authorizer { return h.s.Authorizer }
func (h host) Ping(ctx context.Context) error       { _, err := h.s.Store.Revision(ctx); return err }
func (h host) Fresh(ctx context.Context) error      { return h.s.Fresh(ctx) }

// Get implements hooks.Server.
func (h host) Get(ctx context.Context, ref entry.Reference) (Object, error) {
	t, err := h.s.target(ref)
	if err != nil {
		return nil, err
	}
	return h.s.read(ctx, &Operation{Target: t})
}

// List implements hooks.Server.
func (h host) List(_ context.Context, resource schema.GroupVersionResource, namespace string,
	yield func(Object)) error {
	t, err := h.s.target(entry.Reference{Resource: resource, Namespace: namespace})
	if err != nil {
		return err
	}
	return h.s.scanned(t, yield)
}

// UID implements hooks.Server.
func (h host) UID(ctx context.Context, ref entry.Reference) (uid string, ok bool) {
	uid, _, ok = h.s.Bound(ctx, ref)
	return uid, ok
}

// Authenticate implements hooks.Server.
func (h host) Authenticate(
	ctx context.Context, token string, audiences []string,
) (authentication.User, []string, error) {
	return h.s.Authenticate(ctx, token, audiences)
}

// Tokens implements hooks.Server.
func (h host) Tokens() (entry.Tokens, error) {
	if h.s.Accounts == nil {
		return nil, status.ErrNoTokens
	}
	return h.s.Accounts, nil
}

// Bound looks up an object that a token is bound to. If the cache does not have it, a consistent read follows, since a
// token may be used right after its service account was created.
func (s *Registry) Bound(ctx context.Context, ref entry.Reference) (uid string, deletion time.Time, ok bool) {
	res := s.entry(ref.Resource)
	if res == nil || len(path.IsValidPathSegmentName(ref.Name)) > 0 ||
		len(path.IsValidPathSegmentName(ref.Namespace)) > 0 {
		return "", time.Time{}, false
	}
	key := Target{Resource: res, Namespace: ref.Namespace, Name: ref.Name}.Key(s.Root)
	o, _ := s.Cache.Get(key)
	if o == nil {
		var err error
		if o, err = s.Load(ctx, key); err != nil || o == nil {
			return "", time.Time{}, false
		}
	}
	return o.Meta.UID, o.Meta.Deletion, o.Err == nil
}
