package graph

import (
	"maps"
	"slices"
)

// Elsewhere is an owner that another server may have: its kind is not in the table, or its collection is Aggregated.
type Elsewhere struct {
	APIVersion, Kind, Name, UID string
	// Namespace is the namespace of its dependents, empty if one is cluster-scoped.
	Namespace string
}

// Elsewhere returns the owners on other servers that the graph does not have and that decisions wait for.
func (g *Graph) Elsewhere() []Elsewhere {
	found := map[Elsewhere]bool{}
	for name, k := range g.kinds {
		for n := range k.undecided.nodes {
			for i := range n.refs {
				if r := &n.refs[i]; r.kind == k && k.elsewhere() && r.lost == nil {
					found[Elsewhere{name.apiVersion, name.kind, r.name, r.edge.ownerUID.uid, n.namespace}] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Elsewhere) int {
		return slices.Compare([]string{a.Namespace, a.UID, a.APIVersion, a.Kind, a.Name},
			[]string{b.Namespace, b.UID, b.APIVersion, b.Kind, b.Name})
	})
}

// absent records that an owner does not exist on the server that has its kind. Uids do not come back, so the references
// dangle from now on, like those to an owner whose deletion was seen. Nothing is stored at the place of such an owner,
// so the guards of a deletion hold. If this server serves the kind in the meantime, absent has no effect.
func (g *Graph) absent(e Elsewhere) {
	a, k := g.ownerUIDs[e.UID], g.kinds[kindName{e.APIVersion, e.Kind}]
	if a == nil || k == nil || !k.elsewhere() {
		return
	}
	at := &place{collection: g.collection(e.APIVersion + "/" + e.Kind), namespace: e.Namespace, name: e.Name}
	for edge := a.first; edge != nil; edge = edge.next {
		n := edge.dependent
		for i := range n.refs {
			r := &n.refs[i]
			if r.edge == edge && r.kind == k && r.name == e.Name && n.namespace == e.Namespace {
				r.lost = at
				g.mark(n)
			}
		}
	}
}
