package graph

import "slices"

// waitOnGuards puts n on the waiting lists of all keys that guard its request.
func (g *Graph) waitOnGuards(n *node, guards []Guard) {
	n.work.guards = guards
	for _, guard := range guards {
		p := g.place(guard.Key)
		s := g.guarded[p]
		if s == nil {
			s = &waitingList{}
			g.guarded[p] = s
		}
		s.put(n)
	}
}

// stopWaiting removes n from those lists.
func (g *Graph) stopWaiting(n *node) {
	for _, guard := range n.work.guards {
		p := g.place(guard.Key)
		if s := g.guarded[p]; s != nil {
			delete(s.nodes, n)
			if len(s.nodes) == 0 {
				delete(g.guarded, p)
			}
		}
	}
	n.work.guards = nil
}

// written records that a key was written; same is true if the object that has the key is still the same. Objects whose
// request is guarded by the key, and was in conflict, try again at once. Therefore dependents never wait for a back-off
// because of frequent writes to their owner. Each write costs each dependent at most one request.
func (g *Graph) written(p place, same bool) {
	s := g.guarded[p]
	if s == nil {
		return
	}
	for _, n := range s.sorted() {
		if same && !slices.ContainsFunc(n.work.guards, func(guard Guard) bool {
			return !guard.Held && guard.Key == p.key()
		}) {
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
