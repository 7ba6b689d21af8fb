package workload

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// follow calls sink with the key of each object that needs a pass.
func (e *engine) follow(ctx context.Context, sink func(Key)) error {
	others := append(slices.Clone(e.Owns), e.Sees...)
	return e.api.Follow(ctx, e.For, others, func(c Change) {
		for _, key := range e.affectedKeys(c) {
			sink(key)
		}
	})
}

// affectedKeys returns the keys of the objects that need a pass after a change.
func (e *engine) affectedKeys(c Change) (keys []Key) {
	if c.Old == nil && c.New == nil {
		if e.Start == nil {
			return nil
		}
		return e.Start()
	}
	if c.Resource == e.For && !e.Quiet {
		keys = append(keys, cmp.Or(c.New, c.Old).Key)
	}
	if slices.Contains(e.Owns, c.Resource) {
		keys = append(keys, e.owners(c)...)
	}
	if e.Wake != nil {
		e.glance(func(r Reader) { keys = append(keys, e.Wake(r, c)...) })
	}
	slices.SortFunc(keys, Key.Compare)
	return slices.Compact(keys)
}

// owners returns the keys of a dependent's present and former controller, and of the objects that may adopt it.
func (e *engine) owners(c Change) (keys []Key) {
	for _, m := range []*Meta{c.Old, c.New} {
		if m != nil && m.Controller.UID != "" && m.Controller.Is(e.For) {
			keys = append(keys, Key{m.Namespace, m.Controller.Name})
		}
	}
	if e.Selector == nil || !mayBeAdopted(c) {
		return keys
	}
	e.glance(func(r Reader) {
		keys = append(keys, KeysOf(r.All(e.For, c.New.Namespace), func(o Object) bool {
			return e.Selector(o).Matches(labels.Set(c.New.Labels))
		})...)
	})
	return keys
}

// mayBeAdopted reports whether an owner may adopt an object that is new, has lost its controller or got other labels.
func mayBeAdopted(c Change) bool {
	if c.New == nil || c.New.Controller.UID != "" || c.New.Deleting {
		return false
	}
	return c.Old == nil || c.Old.Controller.UID != "" || !maps.Equal(c.Old.Labels, c.New.Labels)
}

// glance calls f with a state, without waiting for writes. If there is no state, Follow soon starts again and sends all
// objects.
func (e *engine) glance(f func(Reader)) {
	if err := e.api.Glance(f); err != nil {
		e.log.Warn("failed to find the objects that a change affects", "err", err)
	}
}
