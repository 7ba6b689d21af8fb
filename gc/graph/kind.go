package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// kindName is an apiVersion and a kind, interned.
type kindName struct{ apiVersion, kind string }

// kind is the meaning of references to an apiVersion and kind. It exists while the kind is served or a reference names
// it. As long as it exists it keeps its meaning, even if it is no longer served (J-45).
type kind struct {
	name kindName
	// refs is the number of references that name the kind.
	refs int
	// served: it is in the table. known: it is or was in the table.
	served, known bool
	collection    *collection
	namespaced    bool
	// undecided are the objects that can't be decided until the kind is served, or changes its scope (D-73).
	undecided waitingList
}

// elsewhere reports whether an owner of this kind that is not in the graph may exist on another server.
func (k *kind) elsewhere() bool { return !k.served || k.collection.elsewhere }

// collection holds the objects of one resource, in all its versions.
type collection struct {
	name string
	// inert objects may be owners, but are never collected (D-08).
	inert bool
	// elsewhere: another server has the objects. Their changes are not in the timeline (Aggregated).
	elsewhere bool
	// served: a kind of the table has this collection.
	served bool
	// preferred is the apiVersion and kind in which requests name its objects; nil means those in which an object is
	// stored.
	preferred *kindName
	// unreachable are the objects for which no request is possible until the collection is served.
	unreachable waitingList
}

// waitingList holds objects that wait for an event. The zero value is empty.
type waitingList struct{ nodes map[*node]struct{} }

func (s *waitingList) put(n *node) {
	if s.nodes == nil {
		s.nodes = map[*node]struct{}{}
	}
	s.nodes[n] = struct{}{}
}

func (s *waitingList) has(n *node) bool {
	_, ok := s.nodes[n]
	return ok
}

func (s *waitingList) sorted() []*node { return slices.SortedFunc(maps.Keys(s.nodes), compareNodes) }

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
		c = &collection{name: name, elsewhere: strings.HasPrefix(name, Aggregated)}
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

// dropKind drops a kind if no reference names it and it isn't served.
func (g *Graph) dropKind(k *kind) {
	if k.refs == 0 && !k.served {
		delete(g.kinds, k.name)
	}
}

// setKinds replaces the table and marks the objects that the change affects: those that waited for a kind or for their
// own collection, and, if a known kind now has another collection or scope, all with references to it. To find the
// latter it visits all objects, which is rare.
func (g *Graph) setKinds(table []Kind) {
	table = slices.Clone(table)
	slices.SortStableFunc(table, func(a, b Kind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	changed := g.replaceKinds(table)
	for _, c := range g.serve(table) {
		g.wake(&c.unreachable)
	}
	for _, t := range table {
		k := g.kinds[kindName{t.APIVersion, t.Kind}]
		g.wake(&k.undecided)
	}
	if len(changed) == 0 {
		return
	}
	for _, n := range slices.SortedFunc(maps.Values(g.nodes), compareNodes) {
		if slices.ContainsFunc(n.refs, func(r ref) bool { return changed[r.kind] }) {
			g.mark(n)
		}
	}
}

// replaceKinds sets the table and returns the known kinds whose collection or scope has changed.
func (g *Graph) replaceKinds(table []Kind) map[*kind]bool {
	for _, k := range g.kinds {
		k.served = false
	}
	changed := map[*kind]bool{}
	for _, t := range table {
		k := g.kind(kindName{t.APIVersion, t.Kind})
		c := g.collection(t.Collection)
		if k.known && (k.collection != c || k.namespaced != t.Namespaced) {
			changed[k] = true
		}
		k.served, k.known, k.collection, k.namespaced = true, true, c, t.Namespaced
	}
	for _, k := range g.kinds {
		g.dropKind(k)
	}
	return changed
}

// serve marks the collections of the table as served and returns the new ones, sorted.
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

// wake marks all objects of a list to be decided again. Those that still can't be decided return to a list.
func (g *Graph) wake(s *waitingList) {
	if len(s.nodes) == 0 {
		return
	}
	for _, n := range s.sorted() {
		g.mark(n)
	}
}
