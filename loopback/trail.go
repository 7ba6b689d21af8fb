package loopback

import (
	"context"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/trail"
)

// Removals tells a trail of the removals that other servers over the same etcd make.
type Removals struct {
	Cache *cache.Cache
	Types *resources.Types
	Trail *trail.Trail
	// Now is the time at which removals are recorded.
	Now func() time.Time
}

// retryRemovals is the pause after an error.
const retryRemovals = time.Second

// Follow follows the timeline until ctx is done. Removals that it misses, when it falls behind, stay unknown.
func (r *Removals) Follow(ctx context.Context) {
	for ctx.Err() == nil {
		_ = r.follow(ctx) // history has expired, or the cache isn't ready; both pass
		select {
		case <-time.After(retryRemovals):
		case <-ctx.Done():
		}
	}
}

func (r *Removals) follow(ctx context.Context) error {
	select {
	case <-r.Cache.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	revision, _ := r.Cache.Everything()
	w, err := r.Cache.Timeline(revision)
	if err != nil {
		return err
	}
	for {
		events, _, err := w.Poll()
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type == cache.Deleted {
				r.seen(e)
			}
		}
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// seen records a removal. Objects of types that aren't served aren't recorded, nor are Events, as by the registry.
func (r *Removals) seen(e *cache.Event) {
	res := r.Types.Collection(e.Collection)
	if res == nil || res.Expires {
		return
	}
	m := &e.Object.Meta
	r.Trail.Seen(&trail.Subject{
		Type:      trail.Type{Group: res.Group, Version: res.Version, Kind: res.Kind, Resource: res.Plural},
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, Terminating: m.Deleting(),
	}, e.Revision, r.Now())
}
