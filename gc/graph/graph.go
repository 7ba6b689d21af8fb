package graph

import "fmt"

// Config is what a graph is made with.
type Config struct {
	// Limit is the number of requests that may be under way together; at least 1.
	Limit int
	// Inert are the collections whose objects are owners at most and never collected (D-08, J-36).
	Inert []string
	// FirstTicket is where the tickets begin, so that answers to an earlier graph are not
	// taken for answers to this one.
	FirstTicket Ticket
}

// Graph is the state: all objects, who names whom, and what is under way. It has one owner, that
// calls its methods one after the other.
type Graph struct {
	limit    int
	revision int64
	loading  bool

	nodes       map[place]*node
	uids        map[string]*node
	anchors     map[string]*anchor
	kinds       map[kindName]*kind
	names       map[kindName]*kindName
	collections map[string]*collection
	// unread are the shelves of objects that wait for a key whose value has never been readable.
	unread map[place]*shelf
	// contested are the shelves of objects whose request rests on a place, until that is written, and
	// further if the answer is a conflict.
	contested map[place]*shelf
	// loaded are the objects to look at when loading is over.
	loaded []*node

	ready queue
	// woken are owners to be marked before the next decision.
	woken  []*node
	ticket Ticket
	// tickets are the nodes under way and those that wait for a retry.
	tickets map[Ticket]*node
	// settled are answered and not yet shown by the timeline; overdue, since before the last Overdue.
	settled, overdue map[*node]struct{}
	states           [5]int
	edgeCount        int

	out []Action
}

// New returns an empty graph that waits to be loaded.
func New(c Config) *Graph {
	g := &Graph{
		limit:       max(c.Limit, 1),
		loading:     true,
		nodes:       map[place]*node{},
		uids:        map[string]*node{},
		anchors:     map[string]*anchor{},
		kinds:       map[kindName]*kind{},
		names:       map[kindName]*kindName{},
		collections: map[string]*collection{},
		unread:      map[place]*shelf{},
		contested:   map[place]*shelf{},
		ticket:      c.FirstTicket,
		tickets:     map[Ticket]*node{},
		settled:     map[*node]struct{}{},
		overdue:     map[*node]struct{}{},
	}
	for _, name := range c.Inert {
		g.collection(name).inert = true
	}
	return g
}

// Step takes one event in and returns what is to be done, in order. The slice is the graph's
// own and valid until the next Step.
func (g *Graph) Step(e Event) []Action {
	clear(g.out)
	g.out = g.out[:0]
	switch e := e.(type) {
	case Observed:
		g.revision = max(g.revision, e.Object.Revision)
		g.observe(&e.Object)
	case Gone:
		g.revision = max(g.revision, e.Revision)
		if n := g.nodes[g.place(e.Key)]; n != nil {
			g.remove(n)
		}
	case Kinds:
		g.setKinds(e.Table)
	case Loaded:
		g.revision = max(g.revision, e.Revision)
		g.load()
	case Result:
		g.result(e)
	case Due:
		g.due(e.Ticket)
	case Overdue:
		g.sweep()
	default:
		panic(fmt.Sprintf("graph: unknown event %T", e))
	}
	g.drain()
	return g.out
}

// Stats are sums over the graph.
type Stats struct {
	// Nodes are the objects; Edges, the pairs of an object and a uid that it names.
	Nodes, Edges int
	// Ready objects wait for a free slot, InFlight ones for an answer, BackOff ones for a retry, Settled
	// ones for the timeline to show what was answered.
	Ready, InFlight, BackOff, Settled int
	// Revision is the newest seen; NextTicket, a FirstTicket for a graph that replaces this one.
	Revision   int64
	NextTicket Ticket
}

// Stats returns the sums.
func (g *Graph) Stats() Stats {
	return Stats{
		Nodes: len(g.nodes), Edges: g.edgeCount,
		Ready: g.states[Ready], InFlight: g.states[InFlight],
		BackOff: g.states[BackOff], Settled: g.states[Settled],
		Revision: g.revision, NextTicket: g.ticket + 1,
	}
}

func (g *Graph) place(k Key) place {
	return place{collection: g.collection(k.Collection), namespace: k.Namespace, name: k.Name}
}
