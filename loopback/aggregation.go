package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Aggregation is aggregation.API.
type Aggregation struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

func (a *Aggregation) path(name string) registry.Path {
	return registry.Path{Resource: a.API.Types().Lookup(rbacv1.GroupName, "v1", "clusterroles"), Name: name}
}

// Follow implements aggregation.API.
func (a *Aggregation) Follow(ctx context.Context, changed func()) error {
	collection := a.path("").Resource.Collection
	return feed{cache: a.Cache, first: collection, collections: []string{collection},
		begin: func(iter.Seq[*storage.Object]) { changed() },
		each: func(*cache.Event) error {
			changed()
			return nil
		},
	}.follow(ctx)
}

// Roles implements aggregation.API. It omits roles that can't be decoded.
func (a *Aggregation) Roles() (out []*rbacv1.ClusterRole, err error) {
	snap, err := a.Cache.Snapshot(a.path("").Resource.Collection, 0)
	if err != nil {
		return nil, err
	}
	snap.Ascend("", "", func(o *storage.Object) bool {
		r := &rbacv1.ClusterRole{}
		if o.Err == nil && json.Unmarshal(o.JSON, r) == nil {
			out = append(out, r)
		}
		return true
	})
	return out, nil
}

// SetRules implements aggregation.API.
func (a *Aggregation) SetRules(ctx context.Context, name string, rules []rbacv1.PolicyRule) error {
	_, err := a.API.Change(ctx, a.path(name), func(old runtime.Object) (runtime.Object, error) {
		r, ok := old.(*rbacv1.ClusterRole)
		if !ok {
			return nil, fmt.Errorf("%T is no cluster role", old)
		}
		r.Rules = rules
		return r, nil
	})
	return err
}
