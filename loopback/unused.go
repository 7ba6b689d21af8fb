package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/protection"
	"github.com/kubecascade/kubecascade/controllers/unused"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Unused is unused.API.
type Unused struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

func (u *Unused) path(key unused.Key) registry.Path {
	return registry.Path{Resource: u.API.Types().Lookup("", "v1", "persistentvolumeclaims"), Namespace: key.Namespace,
		Name: key.Name}
}

// Get implements unused.API.
func (u *Unused) Get(ctx context.Context, key unused.Key) (*corev1.PersistentVolumeClaim, error) {
	o, err := u.API.Get(ctx, u.path(key))
	if err != nil {
		return nil, err
	}
	c := new(corev1.PersistentVolumeClaim)
	if err := json.Unmarshal(o.JSON, c); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	return c, nil
}

// UpdateStatus implements unused.API.
func (u *Unused) UpdateStatus(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	p := u.path(unused.Key{Namespace: c.Namespace, Name: c.Name})
	p.Subresource = "status"
	_, err := u.API.Update(ctx, p, c)
	return err
}

// Follow implements unused.API.
func (u *Unused) Follow(ctx context.Context, sink func(unused.Event)) error {
	claims := u.path(unused.Key{}).Resource.Collection
	pods := u.API.Types().Lookup("", "v1", "pods").Collection
	return feed{cache: u.Cache, first: claims, second: pods, collections: []string{claims, pods}, rest: rest,
		before: func(state iter.Seq[*storage.Object]) {
			sink(unused.Event{Type: unused.Began})
			for o := range state {
				podChanged(&cache.Event{Type: cache.Added, Object: o}, sink)
			}
			sink(unused.Event{Type: unused.Complete})
		},
		begin: func(state iter.Seq[*storage.Object]) {
			for o := range state {
				claimChanged(o, sink)
			}
		},
		each: func(e *cache.Event) error {
			switch {
			case e.Collection == pods:
				podChanged(e, sink)
			case e.Type != cache.Deleted:
				claimChanged(e.Object, sink)
			}
			return nil
		},
	}.follow(ctx)
}

func keyOfUnused(o *storage.Object) unused.Key {
	return unused.Key{Namespace: o.Meta.Namespace, Name: o.Meta.Name}
}

// podChanged sends the references of a pod, whose volumes never change. Pods without claims needn't be decoded. For one
// that can't be, what is known of it stays.
func podChanged(e *cache.Event, sink func(unused.Event)) {
	pod := protectables[protection.Pod]
	if !pod.marked(e.Object) {
		return
	}
	out := unused.Event{Type: unused.Pod, Key: keyOfUnused(e.Object)}
	if e.Type != cache.Deleted {
		o, err := pod.decode(e.Object)
		if err != nil {
			return
		}
		out.UID, out.References = o.GetUID(), unused.References(o.(*corev1.Pod))
	}
	sink(out)
}

// claimChanged sends the claim if it is one that has the condition.
func claimChanged(o *storage.Object, sink func(unused.Event)) {
	if !contains(o, `"Bound"`) {
		return
	}
	c, err := protectables[protection.Claim].decode(o)
	if err == nil && unused.Eligible(c.(*corev1.PersistentVolumeClaim)) {
		sink(unused.Event{Type: unused.Claim, Key: keyOfUnused(o)})
	}
}
