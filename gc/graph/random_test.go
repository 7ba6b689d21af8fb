package graph

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	seed = flag.Uint64("seed", 0, "run the random tests with this seed only, and print what happens")
	runs = flag.Int("runs", 400, "number of seeds that the random tests try")
)

// seeds calls f for each seed to try. A failure names its seed; -seed=N repeats it alone, and
// prints the transcript.
func seeds(t *testing.T, f func(t *testing.T, seed uint64)) {
	if *seed != 0 {
		f(t, *seed)
		return
	}
	for i := range uint64(*runs) {
		f(t, i+1)
		if t.Failed() {
			t.Fatalf("seed %d; repeat with -seed=%d", i+1, i+1)
		}
	}
}

// TestOwnedObjectsSurviveRandomRequests sends random requests of clients while the collector works with a slow
// timeline, a network that fails and responds late, and crashes. It verifies the invariants after every step. No
// deletion may be requested, by the events that the graph has received, or executed, by the state of the store at that
// moment, of an object that has a solid owner. In the end no rule of the specification may be left to apply.
func TestOwnedObjectsSurviveRandomRequests(t *testing.T) {
	random(t, false)
}

// TestSharedUIDs is TestOwnedObjectsSurviveRandomRequests with objects that have the uid of another one. The dependents
// of each of them are not collected while it exists.
func TestSharedUIDs(t *testing.T) {
	random(t, true)
}

func random(t *testing.T, shared bool) {
	seeds(t, func(t *testing.T, seed uint64) {
		p := newPlay(t, seed, 1+int(seed%7))
		p.shared = shared
		for range 250 {
			switch p.r.IntN(12) {
			case 0, 1:
				p.client()
			case 2:
				p.retry()
			case 3, 4, 5, 6:
				p.deliver()
			case 7, 8:
				p.answer()
			case 9:
				p.rarely()
			default:
				p.carry(true)
			}
		}
		p.repair()
		p.finish()
		if p.renamed { // a restart verifies what was changed in place (D-19)
			p.reload()
			p.finish()
		}
		for _, k := range slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare) {
			if what := p.w.naive(p.w.objects[k]); what != "" {
				t.Errorf("%s should %s; in the end there is\n%s", k, what, p.w)
			}
		}
	})
}

// TestCollectorReachesStateOfRules starts the collector on a random state that no client changes any more. No object
// has two owners, so the rules lead to only one final state. The collector must reach the state that results when the
// rules are applied one after the other.
func TestCollectorReachesStateOfRules(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		p := newPlay(t, seed, 1+int(seed%5))
		p.single = true
		for range 30 {
			p.client()
		}
		oracle := newWorld(p.w.kinds)
		for k, th := range p.w.objects {
			c := *th
			c.Owners = slices.Clone(th.Owners)
			oracle.objects[k] = &c
		}
		if err := oracle.settle(slices.SortedFunc(maps.Keys(oracle.objects), Key.Compare)); err != nil {
			t.Fatal(err)
		}
		p.reload()
		for len(p.w.timeline)+len(p.flying)+len(p.late) > 0 {
			if p.r.IntN(2) == 0 {
				p.deliver()
			} else {
				p.carry(false)
			}
			if len(p.w.timeline) == 0 {
				p.retry()
			}
		}
		p.finish()
		if oracle.unblocked {
			return // the rules do not determine where a cycle is broken
		}
		if diff := cmp.Diff(oracle.String(), p.w.String()); diff != "" {
			t.Errorf("oracle -, collector +:\n%s", diff)
		}
	})
}

// reload loads the world into a new graph, in random order.
func (p *play) reload() {
	p.w.timeline, p.received = nil, newWorld(nil)
	p.g = New(Config{Limit: p.g.limit, Inert: []string{"events"}, FirstTicket: p.g.Stats().NextTicket})
	p.take(Kinds{p.w.kinds})
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	for _, i := range p.r.Perm(len(keys)) {
		p.take(Observed{p.w.objects[keys[i]].shown()})
	}
	p.take(Loaded{})
}

// play is a world, a graph, and the requests and events between them.
type play struct {
	*scenario
	r       *rand.Rand
	flying  []Action
	waiting []Ticket
	// late has the answers that have not arrived yet.
	late []Result
	// received is the world according to the events that the graph has received.
	received *world
	single   bool
	// shared: objects may have the uid of another one.
	shared bool
	uids   int
	// renamed: a client has changed a reference in place.
	renamed bool
	// freed has the references, by the uids of both ends, that were correct when their owner was released with the
	// orphan finalizer.
	freed map[[2]string]bool
	// restored has the uids of restored objects.
	restored map[string]bool
}

func newPlay(t *testing.T, seed uint64, limit int) *play {
	p := &play{
		scenario: &scenario{t: t}, r: rand.New(rand.NewPCG(seed, 1)), freed: map[[2]string]bool{},
		restored: map[string]bool{}, received: newWorld(defaultKinds),
	}
	p.reset(limit, false)
	return p
}

func (p *play) log(format string, args ...any) {
	if *seed != 0 {
		p.t.Logf(format, args...)
	}
}

// deliver passes the next event of the timeline to the graph.
func (p *play) deliver() {
	if len(p.w.timeline) > 0 {
		e := p.w.timeline[0]
		p.w.timeline = p.w.timeline[1:]
		p.take(e)
	}
}

func (p *play) take(e Event) {
	if _, ok := e.(Kinds); !ok {
		p.log("-> %T %+v", e, e)
	}
	p.received.learn(e)
	for _, a := range p.step(e) {
		p.log("   %s", a)
		switch a := a.(type) {
		case Delete:
			p.check(a)
		case Unblock:
			if t := p.received.objects[a.Object.Key]; !p.received.naiveCycle(t, t, map[Key]bool{}) {
				p.t.Errorf("%s, and there is no cycle", a)
			}
		}
		switch a := a.(type) {
		case Retry:
			p.waiting = append(p.waiting, a.Ticket)
		case Forget:
			i := slices.Index(p.waiting, a.Ticket)
			if i < 0 {
				p.t.Errorf("%s was not asked for", a)
				return
			}
			p.waiting = slices.Delete(p.waiting, i, i+1)
		default:
			if isRequest(a) {
				p.flying = append(p.flying, a)
			}
		}
	}
}

func (p *play) retry() {
	if len(p.waiting) > 0 {
		i := p.r.IntN(len(p.waiting))
		t := p.waiting[i]
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.take(Due{t})
	}
}

// carry executes one request. A request may fail before or after its effect.
func (p *play) carry(faulty bool) {
	if len(p.flying) == 0 {
		return
	}
	i := p.r.IntN(len(p.flying))
	a := p.flying[i]
	p.flying = slices.Delete(p.flying, i, i+1)
	switch a := a.(type) {
	case Delete:
		defer p.guard(a)()
	case RemoveFinalizer:
		if a.Finalizer == Orphan {
			defer p.free(a)()
		}
	case RemoveOwners:
		defer p.keep(a)()
	}
	fault := 9
	if faulty {
		fault = p.r.IntN(10)
	}
	ticket := Ticket(0)
	outcome := Failed
	if fault == 0 {
		ticket = ticketOf(a)
	} else {
		ticket, outcome = p.w.carry(a)
		p.log("%s: %s", a, outcome)
	}
	if fault == 1 {
		outcome = Failed
	}
	p.late = append(p.late, Result{ticket, outcome})
	if !faulty {
		p.answer()
	}
}

// answer delivers one of the answers.
func (p *play) answer() {
	if len(p.late) > 0 {
		i := p.r.IntN(len(p.late))
		r := p.late[i]
		p.late = slices.Delete(p.late, i, i+1)
		p.take(r)
	}
}

// rarely causes a rare event: a crash, or an Overdue.
func (p *play) rarely() {
	if p.r.IntN(3) > 0 {
		p.take(Overdue{})
		return
	}
	p.log("crash")
	for range p.flying { // some requests are carried out and never answered
		if p.r.IntN(2) == 0 {
			p.carry(true)
		}
	}
	p.flying, p.waiting, p.late = nil, nil, nil
	clear(p.freed) // it isn't stored
	p.reload()
}

// check fails the test if the events of the graph don't justify the deletion.
func (p *play) check(d Delete) {
	t := p.received.objects[d.Object.Key]
	if t == nil || t.UID != d.Object.UID || t.Revision != d.Object.Revision || len(t.Owners) == 0 {
		p.t.Errorf("%s is of another object than %+v", d, t)
		return
	}
	for _, o := range t.Owners {
		switch v := p.received.naiveOwner(t, o); v {
		case "dangling", "waiting":
		default: // an owner that can't be looked up did exist, and was removed (J-45)
			if v == "solid" || !p.received.died[o.UID] {
				p.t.Errorf("%s, and it has the owner %v, which is %s", d, o, v)
			}
		}
	}
}

func ticketOf(a Action) Ticket {
	switch a := a.(type) {
	case Delete:
		return a.Ticket
	case RemoveOwners:
		return a.Ticket
	case Unblock:
		return a.Ticket
	case RemoveFinalizer:
		return a.Ticket
	}
	return 0
}

// guard fails the test if the deletion removes an object that had a solid owner in the store right before.
func (p *play) guard(d Delete) func() {
	t := p.w.objects[d.Object.Key]
	if t == nil {
		return func() {}
	}
	var solid []Owner
	for _, o := range t.Owners {
		if p.w.naiveOwner(t, o) == "solid" || !p.shared && p.freed[[2]string{t.UID, o.UID}] {
			solid = append(solid, o)
		}
	}
	was := t.Flags.Has(Deleting)
	return func() {
		now := p.w.objects[d.Object.Key]
		if len(solid) > 0 && (now != t || now.Flags.Has(Deleting) != was) {
			p.t.Errorf("%s took an object that %v owned", d, solid)
		}
	}
}

// keep fails the test if the request removes a correct reference to an owner that no client deletes.
func (p *play) keep(a RemoveOwners) func() {
	t := p.w.objects[a.Object.Key]
	// a reference with another object's uid is taken with that one's (D-62)
	if t == nil || t.UID != a.Object.UID || p.shared {
		return func() {}
	}
	var right []Owner
	for _, o := range t.Owners {
		x := p.w.byUID(o.UID)
		wrong := func(r Owner) bool { return r.UID == o.UID && p.w.naiveOwner(t, r) != "solid" }
		if x == nil || x.Flags.Has(Deleting) || p.restored[o.UID] || slices.ContainsFunc(t.Owners, wrong) { // J-37
			continue
		}
		right = append(right, o)
	}
	return func() {
		if now := p.w.objects[a.Object.Key]; now != nil {
			for _, o := range right {
				if !slices.Contains(now.Owners, o) {
					p.t.Errorf("%s took %v, which is right", a, o)
				}
			}
		}
	}
}

// free records the objects that name an orphaning owner when it is deleted (J-08).
func (p *play) free(a RemoveFinalizer) func() {
	var freed [][2]string
	for _, t := range p.w.objects {
		if t.Flags.Has(Broken) {
			continue // its references are unknown
		}
		for _, o := range t.Owners {
			if o.UID == a.Object.UID && p.w.naiveOwner(t, o) == "solid" {
				freed = append(freed, [2]string{t.UID, o.UID})
			}
		}
	}
	return func() {
		if p.w.byUID(a.Object.UID) == nil {
			for _, f := range freed {
				p.freed[f] = true
			}
		}
	}
}

// finish runs everything to its end, without faults.
func (p *play) finish() {
	for range 20_000 {
		switch {
		case len(p.w.timeline) > 0:
			p.deliver()
		case len(p.late) > 0:
			p.answer()
		case len(p.flying) > 0:
			p.carry(false)
		case len(p.waiting) > 0:
			p.retry()
		default:
			s := p.g.Stats()
			if s.Ready+s.InFlight+s.BackOff+s.Settled > 0 {
				p.t.Errorf("quiet, and yet %+v", s)
			}
			return
		}
	}
	p.t.Errorf("no end in\n%s", p.w)
}
