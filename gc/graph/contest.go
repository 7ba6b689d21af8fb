package graph

import "slices"

// contest has n wait on the shelves of all places that its request rests on.
func (g *Graph) contest(n *node, guards []Guard) {
	n.work.guards = guards
	for _, guard := range guards {
		p := g.place(guard.Key)
		s := g.contested[p]
		if s == nil {
			s = &shelf{}
			g.contested[p] = s
		}
		s.put(n)
	}
}

// release takes n off those shelves.
func (g *Graph) release(n *node) {
	for _, guard := range n.work.guards {
		p := g.place(guard.Key)
		if s := g.contested[p]; s != nil {
			delete(s.nodes, n)
			if len(s.nodes) == 0 {
				delete(g.contested, p)
			}
		}
	}
	n.work.guards = nil
}

// overtake tells those whose request rests on a place that it was written; same, that the object there
// is the same one. A conflict is known to be over then: it is tried again at once, and nobody who writes an
// owner often makes its dependents wait for a back-off. Each write costs each of them one request at most.
func (g *Graph) overtake(p place, same bool) {
	s := g.contested[p]
	if s == nil {
		return
	}
	for _, n := range s.sorted() {
		if same && !slices.ContainsFunc(n.work.guards, func(guard Guard) bool { return !guard.Held && guard.Key == p.key() }) {
			continue
		}
		if n.state() == BackOff {
			n.work.attempts = 0
			g.mark(n)
			continue
		}
		n.work.overtaken = true
	}
}
