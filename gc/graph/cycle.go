package graph

import "slices"

// breakCycles releases the blocking references of n by which n waits for itself: an owner in such a reference waits for
// n, and n waits, directly or not, for that owner. Released references will be unblocked. It is enough to check the
// newest member of a cycle. So breakCycles is called for each object that begins to wait, or that changes its
// references while it waits, and cycles never persist (D-40, J-11, J-12).
func (g *Graph) breakCycles(n *node) {
	if g.loading || n.class() != Waiting || n.ownerUID == nil || n.ownerUID.dying == 0 {
		return
	}
	n.edges(func(e *edge) {
		if e.holds() && !e.released && e.awaitedBy(n) {
			e.released = true
		}
	})
}

// suspects has the waiting objects that may wait for themselves, each with the number of suspects that wait for it.
// Only suspects are searched: a search from every loaded object would take a time quadratic in the length of a chain of
// owners.
type suspects map[*node]int

// suspectsOf returns the suspects among loaded objects.
func suspectsOf(loaded []*node) suspects {
	s := suspects{}
	for _, n := range loaded {
		if !n.gone && n.class() == Waiting {
			s[n] = 0
		}
	}
	for n := range s {
		s[n] = s.count(n)
	}
	for _, n := range loaded {
		s.clear(n)
	}
	s.trim()
	return s
}

// owners calls f for each suspect that waits for n.
func (s suspects) owners(n *node, f func(*node)) {
	n.edges(func(e *edge) {
		e.ownerUID.owners(func(o *node) bool {
			if _, ok := s[o]; ok && e.holds() && !e.released {
				f(o)
			}
			return true
		})
	})
}

// count returns the number of suspects that wait for n.
func (s suspects) count(n *node) (waiting int) {
	s.owners(n, func(*node) { waiting++ })
	return waiting
}

// trim removes suspects that wait for no other suspect, such as those below a cycle.
func (s suspects) trim() {
	waits, next := map[*node]int{}, []*node(nil)
	for n := range s {
		s.owners(n, func(o *node) { waits[o]++ })
	}
	for n := range s {
		if waits[n] == 0 {
			next = append(next, n)
		}
	}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		s.owners(n, func(o *node) {
			if waits[o]--; waits[o] == 0 {
				next = append(next, o)
			}
		})
		delete(s, n)
	}
}

// clear removes n if no suspect waits for it, and then each dependent of n for which no other suspect waits.
func (s suspects) clear(n *node) {
	for next := []*node{n}; len(next) > 0; {
		n, next = next[0], next[1:]
		if waiting, ok := s[n]; !ok || waiting > 0 {
			continue
		}
		delete(s, n)
		for e := n.dependents(); e != nil; e = e.next {
			if e.holds() && !e.released {
				s[e.dependent]--
				next = append(next, e.dependent)
			}
		}
	}
}

// recheck undoes the release of references that are no longer in a cycle, so that no owner stops waiting for a
// dependent without need (J-11).
func recheck(n *node) {
	n.edges(func(e *edge) {
		e.released = e.released && e.holds() && e.awaitedBy(n)
	})
}

// holds reports whether the edge's owner waits for the dependent, and the dependent waits for its own dependents.
func (e *edge) holds() bool {
	return e.blocking && e.dependent.class() == Waiting && e.ownerUID.has(Waiting)
}

// awaitedBy reports whether target waits for a waiting owner of the edge, directly or not, or is that owner.
func (e *edge) awaitedBy(target *node) (found bool) {
	e.ownerUID.owners(func(o *node) bool {
		found = o.class() == Waiting && isAwaited(o, target)
		return !found
	})
	return found
}

// isAwaited reports whether target is n or waits for it, directly or not. It searches upwards, from dependents to the
// owners that wait for them. An object has few such owners, because a cascade begins at the top.
func isAwaited(n, target *node) bool {
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

// cyclic reports whether n has released references, which are to be unblocked.
func (n *node) cyclic() bool {
	for i := range n.refs {
		if e := n.refs[i].edge; e.released && e.holds() {
			return true
		}
	}
	return false
}

// cycleOwners returns the uids of the owners in released references, sorted.
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
