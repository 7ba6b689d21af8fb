package graph

import "slices"

// breakCycles looks for blocking references of n by which n waits for itself: n waits for its dependents, and so does
// the owner, which in turn waits, directly or not, for n. Such references are marked as released, and will be
// unblocked. It is enough to check the newest member of a cycle. So breakCycles is called for each object that begins
// to wait, or that changes its references while it waits, and cycles never persist (D-40, J-11, J-12).
func (g *Graph) breakCycles(n *node) {
	if g.loading || n.class() != Waiting || n.ownerUID == nil || n.ownerUID.dying == 0 {
		return
	}
	n.edges(func(e *edge) {
		if e.holds() && !e.released && e.waitsFor(n) {
			e.released = true
		}
	})
}

// recheck undoes the release of references whose cycle has been broken elsewhere in the meantime, so that no owner stops
// waiting for a dependent without need (J-11).
func recheck(n *node) {
	n.edges(func(e *edge) {
		e.released = e.released && e.holds() && e.waitsFor(n)
	})
}

// holds reports whether a waiting owner waits for a waiting dependent along the edge.
func (e *edge) holds() bool {
	return e.blocking && e.dependent.class() == Waiting && e.ownerUID.has(Waiting)
}

// waitsFor reports whether a waiting owner of the edge waits for target, or is it.
func (e *edge) waitsFor(target *node) (found bool) {
	e.ownerUID.owners(func(o *node) bool {
		found = o.class() == Waiting && waitsFor(o, target)
		return !found
	})
	return found
}

// waitsFor reports whether target is reached from n upwards, from dependents to owners. It searches only the waiting
// objects above n, which are few, as a cascade begins at the top.
func waitsFor(n, target *node) bool {
	seen := map[*node]bool{n: true}
	stack := []*node{n}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		if at == target {
			return true
		}
		stack = stack[:len(stack)-1]
		at.edges(func(e *edge) {
			if !e.holds() || e.released {
				return
			}
			e.ownerUID.owners(func(o *node) bool {
				if o.class() == Waiting && !seen[o] {
					seen[o] = true
					stack = append(stack, o)
				}
				return true
			})
		})
	}
	return false
}

// cyclic reports whether n has references to unblock.
func (n *node) cyclic() bool {
	for i := range n.refs {
		if e := n.refs[i].edge; e.released && e.holds() {
			return true
		}
	}
	return false
}

// cycleOwners returns the uids of the references to unblock, sorted.
func (n *node) cycleOwners() []string {
	var uids []string
	n.edges(func(e *edge) {
		if e.released && e.holds() {
			uids = append(uids, e.ownerUID.uid)
		}
	})
	slices.Sort(uids)
	return uids
}
