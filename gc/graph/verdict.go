package graph

import (
	"slices"
)

// Verdict is the state of a reference's owner.
type Verdict uint8

// The verdicts (D-35).
const (
	// Solid: the owner exists and isn't waiting for its dependents.
	Solid Verdict = iota
	// WaitingOwner: the owner is being deleted in the foreground.
	WaitingOwner
	// Dangling: there is no such owner.
	Dangling
	// Undecidable: the kind isn't served, or the owner can't be decoded (D-38, D-73).
	Undecidable
	// OutOfReach: a cluster-scoped object names a namespaced kind (D-37, D-72).
	OutOfReach
)

// String names the verdict.
func (v Verdict) String() string {
	return [...]string{"solid", "waiting", "dangling", "undecidable", "out of reach"}[v]
}

// classify looks up the owner of a reference. If the verdict is Undecidable, n must wait on the returned list; the list
// is nil if the owner's own next event leads to a decision.
func (g *Graph) classify(n *node, r *ref) (Verdict, *waitingList) {
	switch {
	case r.lost != nil:
		return Dangling, nil
	case r.unverified:
		return Solid, nil
	}
	if !r.kind.served {
		return Undecidable, &r.kind.undecided
	}
	if r.kind.namespaced && n.namespace == "" {
		return OutOfReach, &r.kind.undecided
	}
	p := n.names(r)
	o := g.nodes[p]
	switch {
	case p.collection.elsewhere && (o == nil || o.uid != r.edge.ownerUID.uid): // until it is looked up (Absent)
		return Undecidable, &r.kind.undecided
	case o == nil:
		return Dangling, nil
	case o.uid == "":
		return Undecidable, g.unreadList(p)
	case o.uid != r.edge.ownerUID.uid: // D-76, and a wrong name or kind (D-75)
		return Dangling, nil
	case o.class() == Unknown:
		return Undecidable, nil
	case o.class() == Waiting:
		return WaitingOwner, nil
	}
	return Solid, nil
}

// owners summarizes the verdicts. If a reference is undecidable, the first such reference decides (D-38).
func (g *Graph) owners(n *node) (Owners, *waitingList) {
	if len(n.refs) == 0 {
		return NoOwners, nil
	}
	var count [Dangling + 1]int
	for i := range n.refs {
		v, s := g.classify(n, &n.refs[i])
		switch v {
		case Undecidable:
			return UndecidableOwners, s
		case OutOfReach:
			return UnreachableOwners, s
		}
		count[v]++
	}
	switch {
	case count[Solid] == len(n.refs):
		return SolidOwners, nil
	case count[Solid] > 0:
		return MixedOwners, nil
	case count[WaitingOwner] > 0:
		return WaitingOwners, nil
	}
	return DanglingOwners, nil
}

// superfluous returns the uids to remove from n's references: those of owners that orphan their dependents and, if
// others is set, of all that aren't solid. exact reports whether an update of n may change this.
func (g *Graph) superfluous(n *node, others bool) (uids []string, exact bool) {
	for i := range n.refs {
		r := &n.refs[i]
		uid := r.edge.ownerUID.uid
		if r.released() {
			uids = append(uids, uid)
			continue
		}
		if !others {
			continue
		}
		if v, _ := g.classify(n, r); v != Solid {
			uids = append(uids, uid)
			exact = exact || r.edge.ownerUID.owner != nil
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids), exact
}

// guards returns the keys that the verdicts on n's references depend on. An owner must still have the revision of the
// verdict: one that waits for its dependents may stop doing so. If an object with another uid has the key, that object
// may change or be deleted, so that frequent writes to it delay no request (D-76). An owner on another server has no
// guard, because no transaction can compare it.
func (g *Graph) guards(n *node) []Guard {
	guards := make([]Guard, 0, len(n.refs))
	for i := range n.refs {
		r := &n.refs[i]
		p := n.names(r)
		if r.lost != nil {
			p = *r.lost
		}
		if p.collection.elsewhere {
			continue
		}
		guard := Guard{Key: p.key()}
		if o := g.nodes[p]; o != nil {
			guard.Revision, guard.Held = o.revision, o.uid != r.edge.ownerUID.uid
		}
		guards = append(guards, guard)
	}
	slices.SortFunc(guards, Guard.compare)
	return slices.Compact(guards)
}

// unreadList returns the list of objects that wait until a value can be decoded.
func (g *Graph) unreadList(p place) *waitingList {
	s := g.unread[p]
	if s == nil {
		s = &waitingList{}
		g.unread[p] = s
	}
	return s
}

func (g *Graph) wakeUnread(p place, s *waitingList) {
	delete(g.unread, p)
	g.wake(s)
}
