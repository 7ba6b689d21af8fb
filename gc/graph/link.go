package graph

// link gives n its references. old are those that it had before: what was known of them stays known.
func (g *Graph) link(n *node, owners []Owner, old []ref) {
	if len(owners) == 0 {
		return
	}
	n.refs = make([]ref, len(owners))
	known := memories(old)
	edges := map[string]*edge{}
	for i, o := range owners {
		e, again := edges[o.UID]
		if !again {
			e = &edge{dependent: n, anchor: g.anchor(o.UID)}
			edges[o.UID] = e
		}
		k := g.kind(kindName{o.APIVersion, o.Kind})
		k.refs++
		n.refs[i] = ref{kind: k, name: o.Name, edge: e, block: o.Block, first: !again}
		n.refs[i].remember(known[o.UID])
	}
	n.edges(func(e *edge) {
		e.blocking = e.blocks()
		e.anchor.add(e)
	})
	g.edgeCount += len(edges)
}

// memories are the references of which something is known that an update doesn't change, by uid.
func memories(old []ref) map[string][]*ref {
	var known map[string][]*ref
	for i := range old {
		if r := &old[i]; r.lost != nil || r.orphaned {
			if known == nil {
				known = map[string][]*ref{}
			}
			uid := r.edge.anchor.uid
			known[uid] = append(known[uid], r)
		}
	}
	return known
}

// remember takes over what was known of the references with the same uid.
func (r *ref) remember(known []*ref) {
	for _, was := range known {
		r.orphaned = r.orphaned || was.orphaned
		if was.lost != nil && was.kind == r.kind && was.name == r.name {
			r.lost = was.lost
		}
	}
}

// unlink takes n's references away and wakes the owners that may have waited for that.
func (g *Graph) unlink(n *node) {
	refs := n.refs
	n.edges(func(e *edge) {
		g.edgeCount--
		a := e.anchor
		a.remove(e)
		a.owners(func(o *node) bool {
			if o != n && o.class() != Firm {
				g.mark(o)
			}
			return true
		})
		if a.count > 0 {
			return
		}
		delete(g.anchors, a.uid)
		a.owners(func(o *node) bool {
			o.anchor = nil
			return true
		})
	})
	n.refs = nil
	g.drop(refs)
}

func (g *Graph) hold(refs []ref) {
	for i := range refs {
		refs[i].kind.refs++
	}
}

func (g *Graph) drop(refs []ref) {
	for i := range refs {
		refs[i].kind.refs--
		g.dropKind(refs[i].kind)
	}
}

// anchor returns the anchor of a uid, new if need be.
func (g *Graph) anchor(uid string) *anchor {
	a := g.anchors[uid]
	if a == nil {
		a = &anchor{uid: uid, owner: g.uids[uid]}
		g.anchors[uid] = a
		a.owners(func(o *node) bool {
			o.anchor = a
			return true
		})
	}
	return a
}

// change alters what the sums of n's owners depend on: its flags or its work. An owner that n
// was the last to hold is woken, later, so that no change begins within another.
func (g *Graph) change(n *node, alter func()) {
	n.edges(func(e *edge) {
		e.held = e.anchor.holding()
		e.anchor.tally(e, -1)
	})
	alter()
	n.edges(func(e *edge) {
		e.anchor.tally(e, 1)
		if !e.held || e.anchor.holding() {
			return
		}
		e.anchor.owners(func(o *node) bool {
			if o.class() == Waiting {
				g.woken = append(g.woken, o)
			}
			return true
		})
	})
}

// markDependents has all that name n judged again.
func (g *Graph) markDependents(n *node) {
	if n.anchor == nil {
		return
	}
	for e := n.anchor.first; e != nil; e = e.next {
		g.mark(e.dependent)
	}
}

// lose remembers, in the references that were satisfied by n, that it is gone. They needn't be
// looked up again, which may be impossible by then: a CustomResourceDefinition takes the meaning
// of the kind with it (J-45). An owner that was orphaning has released whoever names its uid (D-62).
func (g *Graph) lose(n *node) {
	if n.anchor == nil {
		return
	}
	for e := n.anchor.first; e != nil; e = e.next {
		d := e.dependent
		for i := range d.refs {
			r := &d.refs[i]
			if r.edge != e {
				continue
			}
			r.orphaned = r.orphaned || n.class() == Releasing
			if r.kind.known && d.names(r) == n.place {
				r.lost = n.collection
			}
		}
	}
}

// regain takes in that the uid has an owner. That it was gone is taken back: a uid doesn't come back, unless from a
// backup (J-17). Which dependents block is known only now.
func regain(a *anchor) {
	a.reconsider()
	for e := a.first; e != nil; e = e.next {
		for i := range e.dependent.refs {
			if r := &e.dependent.refs[i]; r.edge == e {
				r.lost, r.orphaned = nil, false
			}
		}
	}
}

// reconsider finds out anew which dependents block, after an owner has come or gone, or has another kind.
func (a *anchor) reconsider() {
	for e := a.first; e != nil; e = e.next {
		a.tally(e, -1)
		e.blocking = e.blocks()
		a.tally(e, 1)
	}
}

// blocks reports whether one of the references with the owner's uid has blockOwnerDeletion and names the owner.
//
// Upstream compares the uid only (GC/graph.go:blockingDependents), so that an object in one namespace blocks the
// deletion of an owner in another, though it can't depend on it (D-71, J-16): a client that has read a uid could keep
// the owner, and with it its namespace, from going away. The permission to block is checked for the object that the
// reference names.
func (e *edge) blocks() bool {
	for i := range e.dependent.refs {
		r := &e.dependent.refs[i]
		if r.edge != e || !r.block {
			continue
		}
		if e.anchor.owner == nil { // nothing waits for the dependent
			return true
		}
		found := false
		e.anchor.owners(func(o *node) bool {
			found = r.fits(e.dependent, o)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// fits reports whether n's reference names the owner by name and kind, from where it can be named (D-70). The version
// doesn't matter, nor whether it is served; the group neither, as what an old API server stored may have another than
// it is served in (extensions).
func (r *ref) fits(n, owner *node) bool {
	return r.name == owner.name && r.kind.name.kind == owner.stored.kind &&
		(owner.namespace == "" || owner.namespace == n.namespace)
}

// names returns where the owner must be stored that r means. The kind must be known. For a
// namespaced kind that is the dependent's own namespace (D-36).
func (n *node) names(r *ref) place {
	p := place{collection: r.kind.collection, name: r.name}
	if r.kind.namespaced {
		p.namespace = n.namespace
	}
	return p
}
