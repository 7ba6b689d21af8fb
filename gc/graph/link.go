package graph

// link sets n's references. old has its references until now; link keeps what is known about their owners.
func (g *Graph) link(n *node, owners []Owner, old []ref) {
	if len(owners) == 0 {
		return
	}
	n.refs = make([]ref, len(owners))
	known := lostRefs(old)
	edges := map[string]*edge{}
	for i, o := range owners {
		e, again := edges[o.UID]
		if !again {
			e = &edge{dependent: n, ownerUID: g.ownerUID(o.UID)}
			edges[o.UID] = e
		}
		k := g.kind(kindName{o.APIVersion, o.Kind})
		k.refs++
		n.refs[i] = ref{kind: k, name: o.Name, edge: e, block: o.Block, first: !again}
		n.refs[i].inherit(known[o.UID])
		if n.collection.elsewhere && (g.orphaners[0][o.UID] || g.orphaners[1][o.UID]) {
			n.refs[i].orphaned = true
		}
	}
	n.edges(func(e *edge) {
		e.blocking = e.blocks()
		e.ownerUID.add(e)
	})
	g.edgeCount += len(edges)
}

// lostRefs returns, by uid, the references whose owners are known to be gone, or have orphaned their dependents. An
// update doesn't change that.
func lostRefs(old []ref) map[string][]*ref {
	var known map[string][]*ref
	for i := range old {
		if r := &old[i]; r.lost != nil || r.orphaned {
			if known == nil {
				known = map[string][]*ref{}
			}
			uid := r.edge.ownerUID.uid
			known[uid] = append(known[uid], r)
		}
	}
	return known
}

// inherit copies what is known about references with the same uid.
func (r *ref) inherit(known []*ref) {
	for _, was := range known {
		r.orphaned = r.orphaned || was.orphaned
		if was.lost != nil && was.kind == r.kind && was.name == r.name {
			r.lost = was.lost
		}
	}
}

// unlink removes n's references and wakes the owners that may have waited for that.
func (g *Graph) unlink(n *node) {
	refs := n.refs
	n.edges(func(e *edge) {
		g.edgeCount--
		a := e.ownerUID
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
		delete(g.ownerUIDs, a.uid)
		a.owners(func(o *node) bool {
			o.ownerUID = nil
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

// ownerUID returns the entry of a uid, and adds it if necessary.
func (g *Graph) ownerUID(uid string) *ownerUID {
	a := g.ownerUIDs[uid]
	if a == nil {
		a = &ownerUID{uid: uid, owner: g.uids[uid]}
		g.ownerUIDs[uid] = a
		a.owners(func(o *node) bool {
			o.ownerUID = a
			return true
		})
	}
	return a
}

// change runs alter, and updates the counts of n's owners: alter changes n's flags or work, on which they depend. An
// owner for which n was the last to wait for is woken later, so that changes don't nest.
func (g *Graph) change(n *node, alter func()) {
	n.edges(func(e *edge) {
		e.held = e.ownerUID.holding()
		e.ownerUID.tally(e, -1)
	})
	alter()
	n.edges(func(e *edge) {
		e.ownerUID.tally(e, 1)
		if !e.held || e.ownerUID.holding() {
			return
		}
		e.ownerUID.owners(func(o *node) bool {
			if o.class() == Waiting {
				g.woken = append(g.woken, o)
			}
			return true
		})
	})
}

// dependents returns the first edge of the list of n's dependents; nil if there are none.
func (n *node) dependents() *edge {
	if n.ownerUID == nil {
		return nil
	}
	return n.ownerUID.first
}

// markDependents marks all dependents of n for a new decision.
func (g *Graph) markDependents(n *node) {
	for e := n.dependents(); e != nil; e = e.next {
		g.mark(e.dependent)
	}
}

// lose records, in the references to n, that n is gone. Later a look-up may be impossible: deleting a
// CustomResourceDefinition removes the meaning of its kind (J-45). The collector reads the table of kinds after the
// events, so it may never have read a table with n's kind. Then n's stored kind decides whether the reference means n.
// An owner that was orphaning has released all objects that name its uid (D-62).
func (g *Graph) lose(n *node) {
	was := n.place
	if n.class() == Releasing {
		g.orphaners[0][n.uid] = true
	}
	for e := n.dependents(); e != nil; e = e.next {
		d := e.dependent
		for i := range d.refs {
			r := &d.refs[i]
			if r.edge != e {
				continue
			}
			r.orphaned = r.orphaned || n.class() == Releasing
			if d.means(r, n) {
				r.lost = &was
			}
		}
	}
}

// regain records, in the references to a uid, that an object has the uid again. That happens only with objects from a
// backup (J-17).
func regain(a *ownerUID) {
	for e := a.first; e != nil; e = e.next {
		for i := range e.dependent.refs {
			if r := &e.dependent.refs[i]; r.edge == e {
				r.lost, r.orphaned = nil, false
			}
		}
	}
}

// blocks reports whether one of the references with the owner's uid has blockOwnerDeletion (D-43). Only the uid counts,
// even if the name, the kind or the namespace differ (J-16).
func (e *edge) blocks() bool {
	for i := range e.dependent.refs {
		if r := &e.dependent.refs[i]; r.edge == e && r.block {
			return true
		}
	}
	return false
}

// fits reports whether n's reference names the owner by name and kind, and whether n's namespace allows it (D-70). The
// version does not matter, nor whether it is served. The group does not matter either: an old API server may have
// stored an object in another group than the served one (extensions).
func (r *ref) fits(n, owner *node) bool {
	return r.name == owner.name && r.kind.name.kind == owner.stored.kind &&
		(owner.namespace == "" || owner.namespace == n.namespace)
}

// means reports whether n's reference names the owner, whose uid it has: by the kind that it names, or, if that was in
// no table, by the stored apiVersion and kind of the owner.
func (n *node) means(r *ref, owner *node) bool {
	if r.kind.known {
		return n.names(r) == owner.place
	}
	return r.kind.name == *owner.stored && r.fits(n, owner)
}

// names returns the key at which the owner of r must be stored. The kind must be known. For a namespaced kind the key
// is in the dependent's own namespace (D-36).
func (n *node) names(r *ref) place {
	p := place{collection: r.kind.collection, name: r.name}
	if r.kind.namespaced {
		p.namespace = n.namespace
	}
	return p
}
