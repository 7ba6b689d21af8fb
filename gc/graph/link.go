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
		e.blocking = e.blocking || o.Block
		k := g.kind(kindName{o.APIVersion, o.Kind})
		k.refs++
		n.refs[i] = ref{kind: k, name: o.Name, edge: e, block: o.Block, first: !again}
		n.refs[i].remember(known[o.UID])
	}
	n.edges(func(e *edge) { e.anchor.add(e) })
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

// regain takes back that the owner is gone: a uid doesn't come back, unless from a backup (J-17).
func regain(a *anchor) {
	for e := a.first; e != nil; e = e.next {
		for i := range e.dependent.refs {
			if r := &e.dependent.refs[i]; r.edge == e {
				r.lost, r.orphaned = nil, false
			}
		}
	}
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
