package graph

import (
	"maps"
	"slices"
)

// State is the state of the work on an object.
type State uint8

// The states.
const (
	Idle State = iota
	// Ready: it is queued for a decision.
	Ready
	// InFlight: a request is in flight.
	InFlight
	// BackOff: a request has failed and will be repeated.
	BackOff
	// Settled: a request was answered, and the timeline will show its effect.
	Settled
)

// String names the state.
func (s State) String() string {
	return [...]string{"idle", "ready", "in flight", "back-off", "settled"}[s]
}

// tries has the failures since the last success or change.
type tries struct {
	// attempts determines the back-off. failures counts all failures. attempts omits conflicts with a write that the
	// timeline has shown since: the next request does not meet them.
	attempts, failures int
	// conflict: the last request failed because of another revision.
	conflict bool
}

type work struct {
	state State
	// ticket of the request or of the retry.
	ticket Ticket
	tries
	// touched: the object was written while the request was in flight. dirty: there is a reason to decide again.
	touched, dirty bool
	// overtaken: a key that guards the request was written, so that the request ends with a conflict.
	overtaken bool
	// list is the waiting list that the object is on.
	list *waitingList
	// guards are the guards of the request. n is on the waiting lists of their keys.
	guards []Guard
}

func (n *node) state() State {
	if n.work == nil {
		return Idle
	}
	return n.work.state
}

// patience is the number of conflicts that are attributed to a lagging timeline.
const patience = 3

// counted reports whether foreground owners wait for the answer to n's own first request: its deletion or its release.
func (n *node) counted() bool {
	if n.work == nil || n.flags.Has(Deleting) {
		return false
	}
	switch w := n.work; w.state {
	case Ready, InFlight:
		return w.failures == 0 || w.failures <= patience && w.conflict
	case BackOff:
		return w.failures <= patience && w.conflict
	}
	return false
}

// mark records that there may be something to do about n.
func (g *Graph) mark(n *node) {
	if g.loading || n.gone || n.collection.inert {
		return
	}
	for i := range n.refs {
		n.refs[i].unverified = false
	}
	switch n.state() {
	case Idle:
		g.setState(n, Ready, tries{})
	case BackOff:
		g.out = append(g.out, Forget{Ticket: n.work.ticket})
		g.setState(n, Ready, n.work.tries)
	case InFlight:
		n.work.dirty = true
	}
}

// touch records that n itself was written; changed reports whether the change matters to n's decision.
func (g *Graph) touch(n *node, changed bool) {
	switch n.state() {
	case Idle, Ready:
		if changed {
			g.mark(n)
		}
	case InFlight:
		n.work.touched = true
		n.work.dirty = n.work.dirty || changed
	case BackOff:
		if changed {
			g.change(n, func() { n.work.tries = tries{} })
		}
		if n.work.conflict {
			n.work.attempts = 0
		}
		if changed || n.work.conflict {
			g.mark(n)
		}
	case Settled:
		g.setState(n, Idle, tries{})
		g.mark(n)
	}
}

// setState moves n to a state, from any other.
func (g *Graph) setState(n *node, s State, t tries) {
	if n.work == nil {
		n.work = &work{}
	}
	w := n.work
	g.leave(n)
	g.change(n, func() {
		w.state, w.tries = s, t
		w.touched, w.dirty, w.overtaken = false, false, false
	})
	if s == Idle {
		n.work = nil
		return
	}
	g.states[s]++
	switch s {
	case Ready:
		g.ready.push(n)
	case InFlight, BackOff:
		g.ticket++
		w.ticket = g.ticket
		g.tickets[w.ticket] = n
	case Settled:
		g.settled[n] = struct{}{}
	}
}

func (g *Graph) leave(n *node) {
	w := n.work
	g.stopWaiting(n)
	if w.state != Idle {
		g.states[w.state]--
	}
	switch w.state {
	case InFlight, BackOff:
		delete(g.tickets, w.ticket)
	case Settled:
		delete(g.settled, n)
		delete(g.overdue, n)
	}
	if w.list != nil {
		delete(w.list.nodes, n)
		w.list = nil
	}
}

// retire ends all work on an object that is gone. A request in flight keeps its slot until it is answered.
func (g *Graph) retire(n *node) {
	switch n.state() {
	case BackOff:
		g.out = append(g.out, Forget{Ticket: n.work.ticket})
	case InFlight:
		t := n.work.ticket
		defer func() { g.tickets[t] = n; g.states[InFlight]++ }()
	}
	if n.work != nil {
		g.setState(n, Idle, tries{})
	}
}

// drain sends as many requests as there are free slots.
func (g *Graph) drain() {
	g.wakeOwners()
	for g.states[InFlight] < g.limit {
		n := g.ready.pop()
		if n == nil {
			return
		}
		if !n.gone && n.state() == Ready {
			g.conclude(n)
		}
		g.wakeOwners()
	}
}

// conclude decides on n, which is ready, and removes it from the queue: it is then in flight, or has no work.
func (g *Graph) conclude(n *node) {
	recheck(n)
	m, where := g.decide(n)
	if m == Keep {
		g.setState(n, Idle, tries{})
		g.park(n, where)
		return
	}
	g.setState(n, InFlight, n.work.tries)
	a := g.request(n, m, n.work.ticket)
	if d, ok := a.(Delete); ok {
		g.waitOnGuards(n, d.Guards)
	}
	g.out = append(g.out, a)
}

func (g *Graph) wakeOwners() {
	for i := 0; i < len(g.woken); i++ { // marking may wake further objects
		g.mark(g.woken[i])
	}
	clear(g.woken)
	g.woken = g.woken[:0]
}

// park puts n on a waiting list, if any.
func (g *Graph) park(n *node, where *waitingList) {
	if where == nil {
		return
	}
	n.work = &work{list: where}
	where.put(n)
}

// result processes the answer to a request.
func (g *Graph) result(r Result) {
	n := g.tickets[r.Ticket]
	if n == nil {
		return
	}
	if n.gone {
		delete(g.tickets, r.Ticket)
		g.states[InFlight]--
		return
	}
	w := n.work
	if w.state != InFlight || w.ticket != r.Ticket {
		return
	}
	touched, dirty, overtaken := w.touched, w.dirty, w.overtaken
	t := tries{attempts: w.attempts + 1, failures: w.failures + 1, conflict: r.Outcome == Conflict}
	switch r.Outcome {
	case Done, Missing:
		if touched {
			g.setState(n, Ready, tries{})
			return
		}
		// Its own next event decides; no other event matters until then.
		g.setState(n, Settled, tries{})
	case Conflict, Failed:
		if t.conflict && (touched || overtaken) {
			t.attempts = 0
			g.setState(n, Ready, t)
			return
		}
		if dirty {
			g.setState(n, Ready, t)
			return
		}
		guards := w.guards
		g.setState(n, BackOff, t)
		if t.conflict { // the timeline will show the conflicting write
			g.waitOnGuards(n, guards)
		}
		g.out = append(g.out, Retry{Ticket: w.ticket, Object: n.ref(), Attempt: w.attempts})
	}
}

// due ends a back-off.
func (g *Graph) due(t Ticket) {
	if n := g.tickets[t]; n != nil && n.state() == BackOff {
		g.setState(n, Ready, n.work.tries)
	}
}

// sweep repeats the decisions whose effect the timeline should have shown by now, and forgets older orphaners.
func (g *Graph) sweep() {
	late := slices.SortedFunc(maps.Keys(g.overdue), compareNodes)
	for _, n := range late {
		g.setState(n, Ready, tries{})
	}
	g.overdue, g.settled = g.settled, map[*node]struct{}{}
	g.orphaners = [2]map[string]bool{{}, g.orphaners[0]}
}

type queue struct {
	nodes []*node
	head  int
}

func (q *queue) push(n *node) { q.nodes = append(q.nodes, n) }

// pop returns nil if the queue is empty.
func (q *queue) pop() *node {
	if q.head == len(q.nodes) {
		q.nodes, q.head = q.nodes[:0], 0
		return nil
	}
	n := q.nodes[q.head]
	q.nodes[q.head] = nil
	q.head++
	if q.head > 1024 && q.head > len(q.nodes)/2 {
		q.nodes = append(q.nodes[:0], q.nodes[q.head:]...)
		q.head = 0
	}
	return n
}
