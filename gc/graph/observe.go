package graph

// observe enters the new state of an object.
func (g *Graph) observe(o *Object) {
	p := g.place(o.Key)
	n := g.nodes[p]
	if n != nil && !o.Flags.Has(Broken) && n.uid != o.UID {
		// Another object has taken the name, or a value became readable for the first time.
		g.remove(n)
		n = nil
	}
	if n == nil {
		g.insert(p, o)
		g.overtake(p, false)
		return
	}
	g.update(n, o)
	g.overtake(p, true)
}

func (g *Graph) insert(p place, o *Object) {
	n := &node{
		place: p, stored: g.name(o.APIVersion, o.Kind),
		uid: o.UID, revision: o.Revision, flags: o.Flags,
	}
	g.nodes[p] = n
	if n.flags.Has(Broken) {
		n.uid = "" // nothing that is said about the value can be relied on
		return
	}
	g.join(n)
	g.link(n, g.heed(n, o), nil)
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
	g.breakBelow(n)
	if len(n.refs) > 0 || n.class() != Firm {
		g.mark(n)
	}
}

// breakBelow looks for cycles that dependents of n close, as which of them block is known anew.
func (g *Graph) breakBelow(n *node) {
	if n.anchor == nil {
		return
	}
	for e := n.anchor.first; e != nil; e = e.next {
		g.breakCycles(e.dependent)
		g.mark(e.dependent)
	}
}

// join enters n under its uid, before others that have the same.
func (g *Graph) join(n *node) {
	n.same = g.uids[n.uid]
	g.uids[n.uid] = n
	if a := g.anchors[n.uid]; a != nil {
		a.owner, n.anchor = n, a
		regain(a)
	}
}

// part takes n out from under its uid.
func (g *Graph) part(n *node) {
	if n.uid == "" { // it never could be read
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
	if n.anchor != nil {
		n.anchor.owner = g.uids[n.uid]
		if n.anchor.owner != nil {
			n.anchor.reconsider()
		}
	}
}

// heed returns the references that count: those of inert objects don't (D-08).
func (g *Graph) heed(n *node, o *Object) []Owner {
	if n.collection.inert {
		return nil
	}
	return o.Owners
}

// update takes over a newer state of the same object. What can't be read leaves the older
// state in place, under the new revision: the uid at least is still true.
func (g *Graph) update(n *node, o *Object) {
	before := n.class()
	flags := o.Flags
	if flags.Has(Broken) {
		flags = n.flags | Broken
	} else {
		g.rename(n, g.name(o.APIVersion, o.Kind))
	}
	owners := g.heed(n, o)
	relink := !flags.Has(Broken) && !n.sameOwners(owners)
	changed := relink || flags != n.flags
	old := n.refs
	if relink {
		g.hold(old) // what their kinds meant isn't forgotten in between
		g.unlink(n)
		n.revision, n.flags = o.Revision, flags
		g.link(n, owners, old)
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
	g.touch(n, changed)
	if g.loading {
		g.loaded = append(g.loaded, n)
	}
}

// rename takes over the stored version, and kind if the definition of a collection has another now.
func (g *Graph) rename(n *node, stored *kindName) {
	if n.stored == stored {
		return
	}
	n.stored = stored
	if n.anchor != nil {
		n.anchor.reconsider()
		g.breakBelow(n)
		g.mark(n)
	}
}

// remove takes an object out. Its dependents are judged again, and whoever waited for it.
func (g *Graph) remove(n *node) {
	delete(g.nodes, n.place)
	n.gone = true
	g.lose(n)
	g.retire(n)
	g.unlink(n)
	g.part(n)
	if a := n.anchor; a != nil {
		for e := a.first; e != nil; e = e.next {
			g.mark(e.dependent)
		}
		a.owners(func(o *node) bool { // fewer may block it now
			g.mark(o)
			return true
		})
	}
	if s := g.unread[n.place]; s != nil {
		g.wakeUnread(n.place, s)
	}
	g.overtake(n.place, false)
}

// load looks at everything for the first time. What was left over from before is found here:
// owners that vanished while nobody looked, and deletions that were not finished.
func (g *Graph) load() {
	loaded := g.loaded
	g.loading, g.loaded = false, nil
	for _, n := range loaded {
		if n.gone {
			continue
		}
		g.breakCycles(n)
		if n.work == nil || n.work.state == Idle {
			g.reportOwners(n, nil)
		}
		g.mark(n)
	}
}
