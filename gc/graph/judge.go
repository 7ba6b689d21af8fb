package graph

import (
	"slices"
)

// Verdict is what a reference is worth.
type Verdict uint8

// The verdicts (D-35).
const (
	// Solid: the owner exists and isn't waiting for its dependents.
	Solid Verdict = iota
	// WaitingOwner: the owner is being deleted in the foreground.
	WaitingOwner
	// Dangling: there is no such owner.
	Dangling
	// Undecidable: the kind isn't served, or the owner can't be read (D-38, D-73).
	Undecidable
	// OutOfReach: a cluster-scoped object names a namespaced kind (D-37, D-72).
	OutOfReach
)

// String names the verdict.
func (v Verdict) String() string {
	return [...]string{"solid", "waiting", "dangling", "undecidable", "out of reach"}[v]
}

// judge looks a reference up. If it can't be judged, the shelf is where to wait for that to
// change; nil if the owner's own next event will tell.
func (g *Graph) judge(n *node, r *ref) (Verdict, *shelf) {
	if r.lost != nil {
		return Dangling, nil
	}
	if !r.kind.served {
		return Undecidable, &r.kind.shelf
	}
	if r.kind.namespaced && n.namespace == "" {
		return OutOfReach, &r.kind.shelf
	}
	p := n.names(r)
	o := g.nodes[p]
	switch {
	case o == nil:
		return Dangling, nil
	case o.uid == "":
		return Undecidable, g.unreadShelf(p)
	case o.uid != r.edge.anchor.uid: // D-76, and a wrong name or kind (D-75)
		return Dangling, nil
	case o.class() == Unknown:
		return Undecidable, nil
	case o.class() == Waiting:
		return WaitingOwner, nil
	}
	return Solid, nil
}

// owners sums the verdicts up. The first reference that can't be judged decides (D-38).
func (g *Graph) owners(n *node) (Owners, *shelf) {
	if len(n.refs) == 0 {
		return NoOwners, nil
	}
	var count [Dangling + 1]int
	for i := range n.refs {
		v, s := g.judge(n, &n.refs[i])
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

// superfluous returns the uids to remove from n's references: of owners that let go of their
// dependents, and, if others is set, of all that aren't solid. exact says that the references
// depend on n's present state.
func (g *Graph) superfluous(n *node, others bool) (uids []string, exact bool) {
	for i := range n.refs {
		r := &n.refs[i]
		uid := r.edge.anchor.uid
		if r.released() {
			uids = append(uids, uid)
			continue
		}
		if !others {
			continue
		}
		if v, _ := g.judge(n, r); v != Solid {
			uids = append(uids, uid)
			exact = exact || r.edge.anchor.owner != nil
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids), exact
}

// guards returns the places that the verdicts on n's references rest on. An owner must be in the
// very state that was judged: one that waits for its dependents may stop doing so. An object of another
// uid in its place need only stay there, or go: somebody who writes it often delays nobody (D-76).
func (g *Graph) guards(n *node) []Guard {
	guards := make([]Guard, 0, len(n.refs))
	for i := range n.refs {
		r := &n.refs[i]
		p := n.names(r)
		if r.lost != nil {
			p.collection = r.lost
		}
		guard := Guard{Key: p.key()}
		if o := g.nodes[p]; o != nil {
			guard.Revision, guard.Held = o.revision, o.uid != r.edge.anchor.uid
		}
		guards = append(guards, guard)
	}
	slices.SortFunc(guards, Guard.compare)
	return slices.Compact(guards)
}

// unreadShelf is where to wait for a value to become readable.
func (g *Graph) unreadShelf(p place) *shelf {
	s := g.unread[p]
	if s == nil {
		s = &shelf{}
		g.unread[p] = s
	}
	return s
}

func (g *Graph) wakeUnread(p place, s *shelf) {
	delete(g.unread, p)
	g.wake(s)
}
