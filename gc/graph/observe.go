package graph

import "maps"

// observe records the new state of an object.
func (g *Graph) observe(o *Object) {
	p := g.place(o.Key)
	n := g.nodes[p]
	if n != nil && !o.Flags.Has(Broken) && n.uid != o.UID {
		// Another object has the key now, or the value can be decoded for the first time.
		g.remove(n)
		n = nil
	}
	if n == nil {
		g.insert(p, o)
		g.written(p, false)
		return
	}
	g.update(n, o)
	g.written(p, true)
}

func (g *Graph) insert(p place, o *Object) {
	n := &node{
		place: p, stored: g.name(o.APIVersion, o.Kind),
		uid: o.UID, revision: o.Revision, flags: o.Flags,
	}
	g.nodes[p] = n
	if n.flags.Has(Broken) {
		n.uid = "" // nothing is known about the value
		return
	}
	g.join(n)
	g.link(n, g.effective(n, o), nil)
	if g.loading {
		if len(n.refs) > 0 || n.class() != Firm {
			g.loaded = append(g.loaded, n)
		}
		return
	}
	g.reportOwners(n, nil)
	g.reportDependents(n)
	g.markDependents(n)
	g.breakCycles(n)
	if len(n.refs) > 0 || n.class() != Firm {
		g.mark(n)
	}
}

// join adds n to the list of its uid, at the front.
func (g *Graph) join(n *node) {
	n.same = g.uids[n.uid]
	g.uids[n.uid] = n
	if a := g.ownerUIDs[n.uid]; a != nil {
		a.owner, n.ownerUID = n, a
		regain(a)
	}
}

// part removes n from the list of its uid.
func (g *Graph) part(n *node) {
	if n.uid == "" { // it could never be decoded
		return
	}
	if head := g.uids[n.uid]; head != n {
		for head.same != n {
			head = head.same
		}
		head.same = n.same
	} else if n.same != nil {
		g.uids[n.uid] = n.same
	} else {
		delete(g.uids, n.uid)
	}
	if n.ownerUID != nil {
		n.ownerUID.owner = g.uids[n.uid]
	}
}

// effective returns the references that have an effect: those of inert objects have none (D-08).
func (g *Graph) effective(n *node, o *Object) []Owner {
	if n.collection.inert {
		return nil
	}
	return o.Owners
}

// update records a newer state of the same object. If the value can't be decoded, the older state stays, with the new
// revision: its uid is still correct.
func (g *Graph) update(n *node, o *Object) {
	before := n.class()
	flags := o.Flags
	if flags.Has(Broken) {
		flags = n.flags | Broken
	} else {
		n.stored = g.name(o.APIVersion, o.Kind)
	}
	owners := g.effective(n, o)
	relink := !flags.Has(Broken) && !n.sameOwners(owners)
	changed := relink || flags != n.flags
	old := n.refs
	inPlace := relink && flags == n.flags && n.work == nil && sameUIDs(old, owners)
	if relink {
		g.hold(old) // keep the meaning of their kinds until then
		g.unlink(n)
		n.revision, n.flags = o.Revision, flags
		g.link(n, owners, old)
		if inPlace {
			n.distrust(old)
		}
		g.drop(old)
	} else {
		g.change(n, func() { n.revision, n.flags = o.Revision, flags })
	}
	if n.class() != before {
		n.edges(func(e *edge) { e.released = false })
		g.markDependents(n)
	}
	if relink && !g.loading {
		g.reportOwners(n, old)
	}
	if changed {
		g.breakCycles(n)
	}
	if inPlace {
		m, where := g.decide(n)
		changed = m != Keep || where != nil
	}
	g.touch(n, changed)
	if g.loading {
		g.loaded = append(g.loaded, n)
	}
}

// sameUIDs reports whether references name the same uids as before.
func sameUIDs(old []ref, owners []Owner) bool {
	was, now := map[string]bool{}, map[string]bool{}
	for i := range old {
		was[old[i].edge.ownerUID.uid] = true
	}
	for _, o := range owners {
		now[o.UID] = true
	}
	return maps.Equal(was, now)
}

// distrust marks the references that an update has changed in place as unverified: upstream's collector verifies only
// references to uids that were added or removed (D-19; GC/graph_builder.go: processGraphChanges).
func (n *node) distrust(old []ref) {
	type named struct {
		kind      *kind
		name, uid string
	}
	of := func(r *ref) named { return named{r.kind, r.name, r.edge.ownerUID.uid} }
	verified := map[named]bool{}
	for i := range old {
		if r := &old[i]; !r.unverified {
			verified[of(r)] = true
		}
	}
	for i := range n.refs {
		n.refs[i].unverified = !verified[of(&n.refs[i])]
	}
}

// remove removes an object, and marks its dependents and the objects that waited for it for a new decision.
func (g *Graph) remove(n *node) {
	delete(g.nodes, n.place)
	n.gone = true
	g.lose(n)
	g.retire(n)
	g.unlink(n)
	g.part(n)
	g.markDependents(n)
	if a := n.ownerUID; a != nil {
		a.owners(func(o *node) bool { // fewer dependents may block it now
			g.mark(o)
			return true
		})
	}
	if s := g.unread[n.place]; s != nil {
		g.wakeUnread(n.place, s)
	}
	g.written(n.place, false)
}

// load marks all objects for their first decision. This finds unfinished work from before: owners that were deleted
// while the collector didn't run, and deletions that were not completed.
func (g *Graph) load() {
	loaded := g.loaded
	g.loading, g.loaded = false, nil
	s := suspectsOf(loaded)
	for _, n := range loaded {
		if n.gone {
			continue
		}
		if _, ok := s[n]; ok {
			g.breakCycles(n)
			s[n] = s.count(n)
			s.clear(n)
		}
		if n.work == nil || n.work.state == Idle {
			g.reportOwners(n, nil)
		}
		g.mark(n)
	}
}
