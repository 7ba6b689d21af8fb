package graph

// reportOwners reports the first new reference whose owner is known and is in another namespace (D-83). A reference
// that is wrong in another way ends the search, too (D-84). old are the references that n had before.
func (g *Graph) reportOwners(n *node, old []ref) {
	named := make(map[string]bool, len(old))
	for i := range old {
		named[old[i].edge.ownerUID.uid] = true
	}
	for i := range n.refs {
		r := &n.refs[i]
		o := r.edge.ownerUID.owner
		if o == nil || named[r.edge.ownerUID.uid] {
			continue
		}
		right := false
		r.edge.ownerUID.owners(func(o *node) bool {
			right = r.kind.known && n.names(r) == o.place
			return !right
		})
		if right {
			continue
		}
		if o.namespace != "" && o.namespace != n.namespace && !o.collection.inert {
			g.report(n, r.edge)
		}
		return
	}
}

// reportDependents reports each object that names the new object n from another namespace (D-84).
func (g *Graph) reportDependents(n *node) {
	if n.namespace == "" || n.collection.inert {
		return
	}
	for e := n.dependents(); e != nil; e = e.next {
		if e.dependent.namespace != n.namespace {
			g.report(e.dependent, e)
		}
	}
}

// report reports n's first reference along the edge.
func (g *Graph) report(n *node, e *edge) {
	for i := range n.refs {
		if n.refs[i].edge == e {
			g.out = append(g.out, Report{Object: n.ref(), Owner: n.owner(i)})
			return
		}
	}
}
