package graph

import (
	"maps"
	"slices"
)

// State is what is being done about an object.
type State uint8

// The states.
const (
	Idle State = iota
	// Ready: it is in line to be decided.
	Ready
	// InFlight: a request is under way.
	InFlight
	// BackOff: a request has failed and will be repeated.
	BackOff
	// Settled: a request was answered, and the timeline will show what came of it.
	Settled
)

// String names the state.
func (s State) String() string {
	return [...]string{"idle", "ready", "in flight", "back-off", "settled"}[s]
}

// tries are what has failed since the last success or change.
type tries struct {
	// attempts count for the back-off; failures are all, those too that were conflicts with a write that
	// is known by now and will not be met again.
	attempts, failures int
	// conflict: the last one failed because a revision was another.
	conflict bool
}

// work is what is being done about an object.
type work struct {
	state State
	// ticket of the request or of the retry.
	ticket Ticket
	tries
	// touched: the object was written while the request was under way. dirty: there is a reason to
	// decide again.
	touched, dirty bool
	// overtaken: a guard of the request was written, so that it was, or will be, in conflict.
	overtaken bool
	// shelf is where the object waits for a fact.
	shelf *shelf
	// guards are what the request rests on, whose places have n on their shelves.
	guards []Guard
}

func (n *node) state() State {
	if n.work == nil {
		return Idle
	}
	return n.work.state
}

// patience is the number of conflicts that are taken for a timeline that lags, not for an answer.
const patience = 3

// counted reports whether foreground owners wait for the answer to n's own first request: its
// deletion or its release.
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

// mark says that there may be something to do about n.
func (g *Graph) mark(n *node) {
	if g.loading || n.gone || n.collection.inert {
		return
	}
	switch n.state() {
	case Idle:
		g.enter(n, Ready, tries{})
	case BackOff:
		g.out = append(g.out, Forget{Ticket: n.work.ticket})
		g.enter(n, Ready, n.work.tries)
	case InFlight:
		n.work.dirty = true
	}
}

// touch says that n itself was written; changed, that it matters.
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
		g.enter(n, Idle, tries{})
		g.mark(n)
	}
}

// enter moves n to a state, taking it out of wherever it was.
func (g *Graph) enter(n *node, s State, t tries) {
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
	g.release(n)
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
	if w.shelf != nil {
		delete(w.shelf.nodes, n)
		w.shelf = nil
	}
}

// retire ends all work on an object that is gone. A request under way keeps its slot until it is answered.
func (g *Graph) retire(n *node) {
	switch n.state() {
	case BackOff:
		g.out = append(g.out, Forget{Ticket: n.work.ticket})
	case InFlight:
		t := n.work.ticket
		defer func() { g.tickets[t] = n; g.states[InFlight]++ }()
	}
	if n.work != nil {
		g.enter(n, Idle, tries{})
	}
}

// drain hands out as many requests as there are free slots.
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

// conclude takes n, which is ready, out of the line: on its way, or out of work.
func (g *Graph) conclude(n *node) {
	recheck(n)
	m, where := g.decide(n)
	if m == Keep {
		g.enter(n, Idle, tries{})
		g.park(n, where)
		return
	}
	g.enter(n, InFlight, n.work.tries)
	a := g.request(n, m, n.work.ticket)
	if d, ok := a.(Delete); ok {
		g.contest(n, d.Guards)
	}
	g.out = append(g.out, a)
}

func (g *Graph) wakeOwners() {
	for i := 0; i < len(g.woken); i++ { // marking may wake more
		g.mark(g.woken[i])
	}
	clear(g.woken)
	g.woken = g.woken[:0]
}

// park has n wait on a shelf, if any.
func (g *Graph) park(n *node, where *shelf) {
	if where == nil {
		return
	}
	n.work = &work{shelf: where}
	where.put(n)
}

// result takes the answer to a request.
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
			g.enter(n, Ready, tries{})
			return
		}
		// Its own next event decides; nothing else that has happened matters until then.
		g.enter(n, Settled, tries{})
	case Conflict, Failed:
		if t.conflict && (touched || overtaken) {
			t.attempts = 0
			g.enter(n, Ready, t)
			return
		}
		if dirty {
			g.enter(n, Ready, t)
			return
		}
		guards := w.guards
		g.enter(n, BackOff, t)
		if t.conflict { // the write that won is on its way
			g.contest(n, guards)
		}
		g.out = append(g.out, Retry{Ticket: w.ticket, Object: n.ref(), Attempt: w.attempts})
	}
}

// due ends a back-off.
func (g *Graph) due(t Ticket) {
	if n := g.tickets[t]; n != nil && n.state() == BackOff {
		g.enter(n, Ready, n.work.tries)
	}
}

// sweep asks again for what the timeline should have shown by now.
func (g *Graph) sweep() {
	late := slices.SortedFunc(maps.Keys(g.overdue), compareNodes)
	for _, n := range late {
		g.enter(n, Ready, tries{})
	}
	g.overdue, g.settled = g.settled, map[*node]struct{}{}
}

// queue is first in, first out.
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
