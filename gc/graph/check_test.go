package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Check verifies the invariants and returns every violation. It walks the whole graph; it is for tests.
//
//   - every node is found by its key, and by its uid if that is known
//   - node n has an edge to uid u  <=>  ownerUID u lists n, and its counts are those of its list
//   - the edge of n to u blocks  <=>  a reference of n to u has blockOwnerDeletion
//   - a reference names each ownerUID, and its owner is the first of the objects with the uid
//   - no object is both gone and queued; an object is queued at most once; slots are used within the limit
//   - n is on the waiting list of a key  <=>  the key guards its request
//   - decide(n) is a request  =>  n is ready, in flight, backing off or settled
//   - decide(n) returns a waiting list  =>  n is on it, or ready, or would be kept if its kinds were served
//   - waiting nodes don't wait for themselves, except through released edges
func (g *Graph) Check() error {
	errs := []error{g.checkSums(), g.checkGuarded()}
	for _, n := range slices.SortedFunc(maps.Values(g.nodes), compareNodes) {
		errs = append(errs, g.checkNode(n), g.checkEdges(n))
		if !g.loading {
			errs = append(errs, g.checkWork(n))
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(g.ownerUIDs)) {
		errs = append(errs, g.checkOwnerUID(g.ownerUIDs[uid]))
	}
	return errors.Join(errs...)
}

func (g *Graph) checkNode(n *node) error {
	switch {
	case n.gone:
		return fmt.Errorf("%s is gone and still indexed", n.key())
	case g.nodes[n.place] != n:
		return fmt.Errorf("%s is listed under another key", n.key())
	case n.uid != "" && !g.listed(n):
		return fmt.Errorf("%s isn't found by its uid %s", n.key(), n.uid)
	case n.ownerUID != g.ownerUIDs[n.uid]:
		return fmt.Errorf("%s: its ownerUID has another uid", n.key())
	}
	return nil
}

// listed reports whether n is found by its uid, once.
func (g *Graph) listed(n *node) bool {
	times := 0
	for o := g.uids[n.uid]; o != nil; o = o.same {
		if o == n {
			times++
		}
	}
	return times == 1
}

func (g *Graph) checkEdges(n *node) error {
	var errs []error
	n.edges(func(e *edge) {
		a := e.ownerUID
		if g.ownerUIDs[a.uid] != a {
			errs = append(errs, fmt.Errorf("%s: the ownerUID of %s is missing", n.key(), a.uid))
		}
		if e.dependent != n || e.blocking != e.blocks() {
			errs = append(errs, fmt.Errorf("%s: its edge to %s is wrong", n.key(), a.uid))
		}
		if !g.loading && e.holds() && !e.released && e.awaitedBy(n) {
			errs = append(errs, fmt.Errorf("%s waits for itself through %s", n.key(), a.uid))
		}
		for at := a.first; at != e; at = at.next {
			if at == nil {
				errs = append(errs, fmt.Errorf("%s: %s doesn't list it", n.key(), a.uid))
				return
			}
		}
	})
	for i := range n.refs {
		if k := n.refs[i].kind; g.kinds[k.name] != k || k.refs <= 0 {
			errs = append(errs, fmt.Errorf("%s: kind %v is missing", n.key(), k.name))
		}
	}
	return errors.Join(errs...)
}

func (g *Graph) checkWork(n *node) error {
	if s := n.state(); (s == Settled) != (holds(g.settled, n) || holds(g.overdue, n)) {
		return fmt.Errorf("%s is %s, but not in the queue, ticket or set of that state", n.key(), s)
	}
	switch n.state() {
	case InFlight, BackOff:
		if g.tickets[n.work.ticket] != n {
			return fmt.Errorf("%s: ticket %d isn't its own", n.key(), n.work.ticket)
		}
	case Idle:
		m, where := g.decide(n)
		if m != Keep {
			return fmt.Errorf("%s is idle and should %s", n.key(), m)
		}
		if where != nil && !where.has(n) && !g.keptBefore(n) {
			return fmt.Errorf("%s should wait and is on no waiting list", n.key())
		}
	}
	return nil
}

// keptBefore reports whether the decision was to keep n when the kinds that it names were last served. It needs no
// waiting list then: if they are served again, nothing has changed.
func (g *Graph) keptBefore(n *node) bool {
	for i := range n.refs {
		if k := n.refs[i].kind; k.known && !k.served {
			k.served = true
			defer func() { k.served = false }()
		}
	}
	m, where := g.decide(n)
	return m == Keep && (where == nil || where.has(n))
}

func holds(set map[*node]struct{}, n *node) bool {
	_, ok := set[n]
	return ok
}

func (g *Graph) checkOwnerUID(a *ownerUID) error {
	var count, blocking, dying, pending int
	for e := a.first; e != nil; e = e.next {
		d := e.dependent
		if d.gone || g.nodes[d.place] != d {
			return fmt.Errorf("uid %s: its dependent %s is gone", a.uid, d.key())
		}
		count++
		if e.blocking {
			blocking++
		}
		if e.blocking && d.class() == Waiting {
			dying++
		}
		if d.counted() {
			pending++
		}
	}
	if count == 0 || a.owner != g.uids[a.uid] {
		return fmt.Errorf("uid %s: %d dependents, owner %v", a.uid, count, a.owner)
	}
	if count != a.count || blocking != a.blocking || dying != a.dying || pending != a.pending {
		return fmt.Errorf("uid %s: counts are %d %d %d %d, should be %d %d %d %d", a.uid,
			a.count, a.blocking, a.dying, a.pending, count, blocking, dying, pending)
	}
	return nil
}

func (g *Graph) checkGuarded() error {
	for p, s := range g.guarded {
		if len(s.nodes) == 0 {
			return fmt.Errorf("the waiting list of %s is empty", p.key())
		}
		for n := range s.nodes {
			if n.gone || n.work == nil || !slices.ContainsFunc(n.work.guards, func(x Guard) bool { return x.Key == p.key() }) {
				return fmt.Errorf("%s is on the waiting list of %s, which does not guard its request", n.key(), p.key())
			}
		}
	}
	for _, n := range g.nodes {
		if n.work == nil {
			continue
		}
		if s := n.state(); len(n.work.guards) > 0 && s != InFlight && (s != BackOff || !n.work.conflict) {
			return fmt.Errorf("%s is %s and in a conflict", n.key(), s)
		}
		for _, guard := range n.work.guards {
			if s := g.guarded[g.place(guard.Key)]; s == nil || !s.has(n) {
				return fmt.Errorf("%s is not on the waiting list of %s", n.key(), guard.Key)
			}
		}
	}
	return nil
}

func (g *Graph) checkSums() error {
	var states [5]int
	for _, n := range g.nodes {
		if n.state() != Idle {
			states[n.state()]++
		}
	}
	inLine := map[*node]int{}
	for _, n := range g.ready.nodes[g.ready.head:] {
		if !n.gone {
			inLine[n]++
		}
		if inLine[n] > 1 {
			return fmt.Errorf("%s is queued twice", n.key())
		}
	}
	for _, n := range g.tickets {
		if n.gone {
			states[InFlight]++
		}
	}
	if len(inLine) != states[Ready] || states != g.states {
		return fmt.Errorf("%d queued; states are %v, should be %v", len(inLine), g.states, states)
	}
	if states[InFlight] > g.limit {
		return fmt.Errorf("%d in flight, limit %d", states[InFlight], g.limit)
	}
	return nil
}
