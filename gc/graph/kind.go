package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// kindName is an apiVersion and a kind, interned.
type kindName struct{ apiVersion, kind string }

// kind is what references to an apiVersion and kind mean. It exists while it is served or named
// by a reference; a kind that was served and isn't now keeps its meaning for as long (J-45).
type kind struct {
	name kindName
	// refs is the number of references that name the kind.
	refs int
	// served: the table has it now. known: it has, or had.
	served, known bool
	collection    *collection
	namespaced    bool
	// shelf holds the objects that can't be judged until the kind means something else (D-73).
	shelf shelf
}

// collection is where objects of a resource are stored.
type collection struct {
	name string
	// inert objects are owners at most; nothing is ever done to them (D-08).
	inert bool
	// served: some kind of the table stands for it.
	served bool
	// preferred is the version by which its objects are named; nil to take the stored one.
	preferred *kindName
	// shelf holds the objects that can't be reached until the collection is served.
	shelf shelf
}

// shelf is where objects wait for a fact. The zero value is empty.
type shelf struct{ nodes map[*node]struct{} }

func (s *shelf) put(n *node) {
	if s.nodes == nil {
		s.nodes = map[*node]struct{}{}
	}
	s.nodes[n] = struct{}{}
}

func (s *shelf) has(n *node) bool {
	_, ok := s.nodes[n]
	return ok
}

// sorted returns what is on the shelf.
func (s *shelf) sorted() []*node { return slices.SortedFunc(maps.Keys(s.nodes), compareNodes) }

func (g *Graph) name(apiVersion, kind string) *kindName {
	k := kindName{apiVersion, kind}
	p, ok := g.names[k]
	if !ok {
		p = &k
		g.names[k] = p
	}
	return p
}

func (g *Graph) collection(name string) *collection {
	c, ok := g.collections[name]
	if !ok {
		c = &collection{name: name}
		g.collections[name] = c
	}
	return c
}

func (g *Graph) kind(name kindName) *kind {
	k, ok := g.kinds[name]
	if !ok {
		k = &kind{name: name}
		g.kinds[name] = k
	}
	return k
}

// dropKind forgets a kind that nobody names and nobody serves.
func (g *Graph) dropKind(k *kind) {
	if k.refs == 0 && !k.served {
		delete(g.kinds, k.name)
	}
}

// setKinds replaces the table and wakes whom it concerns: those that waited for a kind or for
// their own collection, and, if a known kind now means another collection or scope, all that
// name it. The last is a walk over all objects, as rare as the change.
func (g *Graph) setKinds(table []Kind) {
	table = slices.Clone(table)
	slices.SortFunc(table, func(a, b Kind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	moved := g.replaceKinds(table)
	for _, c := range g.serve(table) {
		g.wake(&c.shelf)
	}
	for _, t := range table {
		k := g.kinds[kindName{t.APIVersion, t.Kind}]
		g.wake(&k.shelf)
	}
	if len(moved) == 0 {
		return
	}
	for _, n := range slices.SortedFunc(maps.Values(g.nodes), compareNodes) {
		if slices.ContainsFunc(n.refs, func(r ref) bool { return moved[r.kind] }) {
			g.mark(n)
		}
	}
}

// replaceKinds enters the table and returns the kinds whose known meaning has changed.
func (g *Graph) replaceKinds(table []Kind) map[*kind]bool {
	for _, k := range g.kinds {
		k.served = false
	}
	moved := map[*kind]bool{}
	for _, t := range table {
		k := g.kind(kindName{t.APIVersion, t.Kind})
		c := g.collection(t.Collection)
		if k.known && (k.collection != c || k.namespaced != t.Namespaced) {
			moved[k] = true
		}
		k.served, k.known, k.collection, k.namespaced = true, true, c, t.Namespaced
	}
	for _, k := range g.kinds {
		g.dropKind(k)
	}
	return moved
}

// serve marks the collections that the table stands for and returns those that are new, sorted.
func (g *Graph) serve(table []Kind) []*collection {
	before := map[*collection]bool{}
	for _, c := range g.collections {
		if c.served {
			before[c] = true
		}
		c.served, c.preferred = false, nil
	}
	var fresh []*collection
	for _, t := range table {
		c := g.collection(t.Collection)
		if !c.served && !before[c] {
			fresh = append(fresh, c)
		}
		c.served = true
		if t.Preferred {
			c.preferred = g.name(t.APIVersion, t.Kind)
		}
	}
	slices.SortFunc(fresh, func(a, b *collection) int { return strings.Compare(a.name, b.name) })
	return fresh
}

// wake marks everything on a shelf; what can't be judged still goes back to a shelf.
func (g *Graph) wake(s *shelf) {
	if len(s.nodes) == 0 {
		return
	}
	for _, n := range s.sorted() {
		g.mark(n)
	}
}
