package graph

// decide returns what to do about n now. If that can't be decided or done yet, it returns Keep, and the waiting list
// for n.
func (g *Graph) decide(n *node) (Move, *waitingList) {
	if n.collection.inert || n.flags.Has(Broken) {
		return Keep, nil
	}
	s, where := g.situation(n)
	m := Decide(s)
	if m != Keep && !n.collection.served {
		return Keep, &n.collection.unreachable
	}
	if m != Keep {
		return m, nil
	}
	return Keep, where
}

// situation determines n's situation. The owners of an object that is being deleted have no effect.
func (g *Graph) situation(n *node) (Situation, *waitingList) {
	s := Situation{Life: n.life(), Released: n.released()}
	var where *waitingList
	if s.Life < Terminating {
		s.Owners, where = g.owners(n)
	}
	if a := n.ownerUID; a != nil {
		s.Dependents = FreeDependents
		if a.holding() {
			s.Dependents = HoldingDependents
		}
	}
	s.Cyclic = s.Life == ForegroundLife && n.cyclic()
	return s, where
}

func (n *node) life() Life {
	f := n.flags
	switch {
	case f.Has(Deleting | OrphanFinalizer):
		return OrphaningLife
	case f.Has(Deleting | ForegroundFinalizer):
		return ForegroundLife
	case f.Has(Deleting):
		return Terminating
	case f.Has(OrphanFinalizer):
		return LiveOrphan
	case f.Has(ForegroundFinalizer):
		return LiveForeground
	}
	return Live
}

// released reports whether an owner orphans n.
func (n *node) released() bool {
	for i := range n.refs {
		if n.refs[i].released() {
			return true
		}
	}
	return false
}

// released reports whether the owner orphans its dependents, or did when it was removed. Only the uid counts (D-62).
func (r *ref) released() bool {
	return r.orphaned || r.edge.ownerUID.has(Releasing)
}

// request turns the move into a request.
func (g *Graph) request(n *node, m Move, t Ticket) Action {
	ref := n.ref()
	switch m {
	case DropOwners:
		owners := NoOwners
		if n.life() < Terminating {
			owners, _ = g.owners(n)
		}
		uids, exact := g.superfluous(n, owners == MixedOwners)
		return RemoveOwners{Ticket: t, Object: ref, Exact: exact, Owners: uids, Orphaning: n.released(), Cause: g.cause(n)}
	case UnblockOwners:
		return Unblock{Ticket: t, Object: ref, Owners: n.cycleOwners(), Cause: g.cause(n)}
	case ReleaseOrphan:
		return RemoveFinalizer{Ticket: t, Object: ref, Finalizer: Orphan}
	case ReleaseForeground:
		return RemoveFinalizer{Ticket: t, Object: ref, Finalizer: Foreground}
	case DeleteBackground:
		return Delete{Ticket: t, Object: ref, Policy: Background, Guards: g.guards(n), Cause: g.cause(n)}
	case DeleteForeground:
		return Delete{Ticket: t, Object: ref, Policy: ForegroundPolicy, Guards: g.guards(n), Cause: g.cause(n)}
	case DeleteOrphan:
		return Delete{Ticket: t, Object: ref, Policy: OrphanPolicy, Guards: g.guards(n), Cause: g.cause(n)}
	}
	panic("graph: no request for the move " + m.String())
}

// cause returns the reason why n is deleted, or loses references. It prefers an owner that orphans n, because n then
// stays (D-62), and next an owner that waits for n.
func (g *Graph) cause(n *node) (c Cause) {
	at := -1
	for i := range n.refs {
		r := &n.refs[i]
		reason := AbsentOwner
		switch v, _ := g.classify(n, r); {
		case r.released():
			reason = OrphaningOwner
		case v == WaitingOwner:
			reason = ForegroundOwner
		case r.lost != nil:
			reason = DeletedOwner
		case v != Dangling:
			continue
		}
		if at < 0 || reason > c.Reason {
			at, c.Reason = i, reason
		}
	}
	if at >= 0 {
		c.Owner = n.owner(at)
	}
	return c
}
