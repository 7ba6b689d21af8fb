package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/fixture"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Fixtures is fixture.API.
type Fixtures struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

func (f *Fixtures) path(r fixture.Rule, namespace, name string) registry.Path {
	return registry.Path{Resource: f.API.Types().Lookup("", "v1", r.Plural), Namespace: namespace, Name: name}
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

// Follow implements fixture.API. A pass reads the stored state, so the order between namespaces and the rule's objects
// doesn't matter.
func (f *Fixtures) Follow(ctx context.Context, r fixture.Rule, sink func(string)) error {
	var active map[string]bool
	send := func(o *storage.Object) {
		name := o.Meta.Name
		if o.Meta.Deleting() {
			delete(active, name)
		} else if !active[name] {
			active[name] = true
			sink(name)
		}
	}
	return feed{cache: f.Cache, first: namespaces,
		collections: []string{namespaces, f.path(r, "", "").Resource.Collection}, rest: rest,
		begin: func(state iter.Seq[*storage.Object]) {
			active = map[string]bool{}
			for o := range state {
				send(o)
			}
		},
		each: func(e *cache.Event) error {
			m := &e.Object.Meta
			switch {
			case e.Collection == namespaces && e.Type == cache.Deleted:
				delete(active, m.Name)
			case e.Collection == namespaces:
				send(e.Object)
			case m.Name == r.Name && active[m.Namespace] && e.Type != cache.Added:
				sink(m.Namespace)
			}
			return nil
		},
	}.follow(ctx)
}
