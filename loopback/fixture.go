package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/controllers/fixture"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Fixtures is fixture.API.
type Fixtures struct {
	API   *apiserver.Loopback
	Cache *cache.Cache
}

func (f *Fixtures) path(r fixture.Rule, namespace, name string) apiserver.Path {
	return apiserver.Path{Resource: f.API.Types().Lookup("", "v1", r.Plural), Namespace: namespace, Name: name}
}

// Get implements fixture.API.
func (f *Fixtures) Get(ctx context.Context, r fixture.Rule, namespace string) (fixture.Object, error) {
	o, err := f.API.Get(ctx, f.path(r, namespace, r.Name))
	if err != nil {
		return nil, err
	}
	out := r.Empty()
	if err := json.Unmarshal(o.JSON, out); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	return out, nil
}

// Create implements fixture.API.
func (f *Fixtures) Create(ctx context.Context, r fixture.Rule, namespace string, o fixture.Object) error {
	_, err := f.API.Create(ctx, f.path(r, namespace, ""), o)
	return err
}

// Update implements fixture.API.
func (f *Fixtures) Update(ctx context.Context, r fixture.Rule, o fixture.Object) error {
	_, err := f.API.Update(ctx, f.path(r, o.GetNamespace(), o.GetName()), o)
	return err
}

// Follow implements fixture.API.
func (f *Fixtures) Follow(ctx context.Context, r fixture.Rule, sink func(string)) error {
	for ctx.Err() == nil {
		if err := f.follow(ctx, r, sink); !errors.Is(err, cache.ErrExpired) {
			return err
		}
	}
	return ctx.Err()
}

// follow tells the state and then what changes, until it falls behind. The two collections are watched
// for themselves, so that writes elsewhere wake nobody; a pass reads what is stored, so the order between
// them doesn't matter.
func (f *Fixtures) follow(ctx context.Context, r fixture.Rule, sink func(string)) error {
	select {
	case <-f.Cache.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	snap, err := f.Cache.Snapshot(namespaces, 0)
	if err != nil {
		return err
	}
	in, err := f.Cache.Watch(namespaces, snap.Revision())
	if err != nil {
		return err
	}
	of, err := f.Cache.Watch(f.path(r, "", "").Resource.Collection, snap.Revision())
	if err != nil {
		return err
	}
	active := map[string]bool{}
	tell := func(o *storage.Object) {
		name := o.Meta.Name
		if o.Meta.Deleting() {
			delete(active, name)
		} else if !active[name] {
			active[name] = true
			sink(name)
		}
	}
	snap.Ascend("", "", func(o *storage.Object) bool {
		tell(o)
		return true
	})
	for {
		events, _, err := in.Poll()
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type == cache.Deleted {
				delete(active, e.Object.Meta.Name)
			} else {
				tell(e.Object)
			}
		}
		changed, _, err := of.Poll()
		if err != nil {
			return err
		}
		for _, e := range changed {
			if m := &e.Object.Meta; m.Name == r.Name && active[m.Namespace] && e.Type != cache.Added {
				sink(m.Namespace)
			}
		}
		select {
		case <-in.Changed():
		case <-of.Changed():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
