package loopback

import (
	"context"
	"encoding/json"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Aggregation is aggregation.API.
type Aggregation struct {
	API   *registry.Loopback
	Cache *cache.Cache

	watcher *cache.Watcher
}

func (a *Aggregation) path(name string) registry.Path {
	return registry.Path{Resource: a.API.Types().Lookup(rbacv1.GroupName, "v1", "clusterroles"), Name: name}
}

// Roles implements aggregation.API. It omits roles that can't be decoded.
func (a *Aggregation) Roles(ctx context.Context) (out []*rbacv1.ClusterRole, err error) {
	collection := a.path("").Resource.Collection
	if a.watcher != nil {
		if err := a.wait(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			a.watcher = nil // history has expired: start again
		}
	}
	select {
	case <-a.Cache.Ready():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for a.watcher != nil { // the state below includes these events
		events, _, err := a.watcher.Poll()
		if err != nil {
			a.watcher = nil
		} else if len(events) == 0 {
			break
		}
	}
	snap, err := a.Cache.Snapshot(collection, 0)
	if err != nil {
		return nil, err
	}
	if a.watcher == nil {
		if a.watcher, err = a.Cache.Watch(collection, snap.Revision()); err != nil {
			return nil, err
		}
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

// wait returns when there was an event.
func (a *Aggregation) wait(ctx context.Context) error {
	loop := reconcile.FeedOf(ctx)
	for {
		if events, _, err := a.watcher.Poll(); len(events) > 0 || err != nil {
			return err
		}
		if loop.IsAsked() { // the pass over all earlier events has ended
			loop.Sent()
		}
		select {
		case <-a.watcher.Changed():
		case answer := <-loop.Asks():
			loop.Note(answer)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
