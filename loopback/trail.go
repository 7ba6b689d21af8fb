package loopback

import (
	"context"
	"iter"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Removals records in a trail the removals that other servers over the same etcd make.
type Removals struct {
	Cache *cache.Cache
	Types *resources.Types
	Trail *trail.Trail
	// Now is the time at which removals are recorded.
	Now func() time.Time
}

// retryRemovals is the pause after an error.
const retryRemovals = time.Second

// Follow follows the timeline until ctx is done. It does not record removals that it misses because it falls behind.
func (r *Removals) Follow(ctx context.Context) {
	feed := Feed{Cache: r.Cache, First: namespaces, Begin: func(iter.Seq[*storage.Object]) {},
		Each: func(e *cache.Event) error {
			if e.Type == cache.Deleted {
				r.seen(e)
			}
			return nil
		}}
	for ctx.Err() == nil {
		_ = feed.Follow(ctx) // errors are temporary
		reconcile.Sleep(ctx, retryRemovals)
	}
}

// seen records a removal. Like the registry, it does not record Events and objects of types that aren't served.
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
