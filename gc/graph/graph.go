package graph

import "fmt"

// Config is the configuration of a graph.
type Config struct {
	// Limit is the maximum number of requests in flight; at least 1.
	Limit int
	// Inert are the collections whose objects may be owners but are never collected (D-08, J-36).
	Inert []string
	// FirstTicket is the first ticket, so that answers to requests of an earlier graph are not taken for answers to
	// this one's.
	FirstTicket Ticket
}

// Graph is the state: all objects, their references, and the requests in flight. One goroutine at a time may call its
// methods.
type Graph struct {
	limit   int
	loading bool

	index
	waiting
	ready queue
	// woken are owners to be marked before the next decision.
	woken []*node
	inFlight
	states    [5]int
	edgeCount int
	// orphaners has the uids of owners that were removed while they orphaned their dependents: [0] since the last
	// Overdue, [1] before it. Objects of other servers may be read after the removal, and are released, too.
	orphaners [2]map[string]bool

	out []Action
}

type index struct {
	nodes       map[place]*node
	uids        map[string]*node
	ownerUIDs   map[string]*ownerUID
	kinds       map[kindName]*kind
	names       map[kindName]*kindName
	collections map[string]*collection
}

// waiting has the objects that wait for an event before they are decided.
type waiting struct {
	// unread are the waiting lists of objects that wait for a key whose value could never be decoded.
	unread map[place]*waitingList
	// guarded has the waiting lists of objects with a request that a key guards. After a conflict they stay on the list
	// until the key is written.
	guarded map[place]*waitingList
	// loaded are the objects to decide on when loading is complete.
	loaded []*node
}

type inFlight struct {
	ticket Ticket
	// tickets has the nodes with a request in flight or a pending retry.
	tickets map[Ticket]*node
	// settled has the nodes with an answered request whose effect the timeline has not shown yet; overdue has those
	// that were settled before the last Overdue.
	settled, overdue map[*node]struct{}
}

// New returns an empty graph, to be loaded.
func New(c Config) *Graph {
	g := &Graph{
		limit: max(c.Limit, 1), loading: true, orphaners: [2]map[string]bool{{}, {}},
		index: index{
			nodes: map[place]*node{}, uids: map[string]*node{}, ownerUIDs: map[string]*ownerUID{},
			kinds: map[kindName]*kind{}, names: map[kindName]*kindName{}, collections: map[string]*collection{},
		},
		waiting: waiting{unread: map[place]*waitingList{}, guarded: map[place]*waitingList{}},
		inFlight: inFlight{
			ticket: c.FirstTicket, tickets: map[Ticket]*node{}, settled: map[*node]struct{}{}, overdue: map[*node]struct{}{},
		},
	}
	for _, name := range c.Inert {
		g.collection(name).inert = true
	}
	return g
}

// Step processes one event and returns the actions to take, in order. The slice belongs to the graph and is valid until
// the next Step.
func (g *Graph) Step(e Event) []Action {
	clear(g.out)
	g.out = g.out[:0]
	switch e := e.(type) {
	case Observed:
		g.observe(&e.Object)
	case Gone:
		if n := g.nodes[g.place(e.Key)]; n != nil {
			g.remove(n)
		}
	case Kinds:
		g.setKinds(e.Table)
	case Loaded:
		g.load()
	case Absent:
		g.absent(e.Owner)
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

// Stats are counts of a graph.
type Stats struct {
	// Nodes is the number of objects, Edges that of pairs of an object and a uid that it names.
	Nodes, Edges int
	// Ready objects wait for a free slot, InFlight ones for an answer, BackOff ones for a retry, Settled ones for the
	// timeline to show the effect of an answered request.
	Ready, InFlight, BackOff, Settled int
	// NextTicket is the FirstTicket for a graph that replaces this one.
	NextTicket Ticket
}

// Stats returns the counts.
func (g *Graph) Stats() Stats {
	return Stats{
		Nodes: len(g.nodes), Edges: g.edgeCount,
		Ready: g.states[Ready], InFlight: g.states[InFlight],
		BackOff: g.states[BackOff], Settled: g.states[Settled],
		NextTicket: g.ticket + 1,
	}
}

func (g *Graph) place(k Key) place {
	return place{collection: g.collection(k.Collection), namespace: k.Namespace, name: k.Name}
}
