package graph

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	seed = flag.Uint64("seed", 0, "run TestRandom with this seed only, and print what happens")
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

// TestRandom lets clients do anything at all while the collector works over a slow timeline and a
// failing network. It verifies the invariants after every step, that no object is ever deleted that has a
// solid owner at that moment, and that in the end no rule of the specification is left to apply.
func TestRandom(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		p := newPlay(t, seed, 1+int(seed%7))
		for range 250 {
			switch p.r.IntN(5) {
			case 0:
				p.client()
			case 1:
				p.retry()
			case 2, 3:
				p.tell()
			default:
				p.carry(true)
			}
		}
		p.finish()
		for _, k := range slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare) {
			if what := p.w.naive(p.w.objects[k]); what != "" {
				t.Errorf("%s should %s; in the end there is\n%s", k, what, p.w)
			}
		}
	})
}

// TestOracle starts the collector on a random state that nobody changes any more, in which nobody has
// two owners, so that the rules lead to one end only. It must be the one that they come to when
// they are simply applied one after the other.
func TestOracle(t *testing.T) {
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
		for len(p.w.timeline)+len(p.flying) > 0 {
			if p.r.IntN(2) == 0 {
				p.tell()
			} else {
				p.carry(false)
			}
			if len(p.w.timeline) == 0 {
				p.retry()
			}
		}
		p.finish()
		if oracle.unblocked {
			return // where a cycle is broken is open, and who is released by that
		}
		if diff := cmp.Diff(oracle.String(), p.w.String()); diff != "" {
			t.Errorf("oracle -, collector +:\n%s", diff)
		}
	})
}

// reload has a new graph load the world, in any order.
func (p *play) reload() {
	p.w.timeline = nil
	p.g = New(Config{Limit: p.g.limit, Inert: []string{"events"}})
	p.take(Kinds{p.w.kinds})
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	for _, i := range p.r.Perm(len(keys)) {
		o := p.w.objects[keys[i]].Object
		o.Owners = slices.Clone(o.Owners)
		p.take(Observed{o})
	}
	p.take(Loaded{p.w.revision})
}

// play is a world, a graph, and what is between them.
type play struct {
	*scenario
	r       *rand.Rand
	flying  []Action
	waiting []Ticket
	single  bool
	uids    int
	// freed are references, by the uids of both ends, that were right when their owner was released
	// with the orphan finalizer.
	freed map[[2]string]bool
}

func newPlay(t *testing.T, seed uint64, limit int) *play {
	p := &play{scenario: &scenario{t: t}, r: rand.New(rand.NewPCG(seed, 1)), freed: map[[2]string]bool{}}
	p.reset(limit, false)
	return p
}

func (p *play) log(format string, args ...any) {
	if *seed != 0 {
		p.t.Logf(format, args...)
	}
}

// tell gives the graph the next event of the timeline.
func (p *play) tell() {
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
	for _, a := range p.step(e) {
		p.log("   %s", a)
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

// carry carries one request out. A request may fail before or after it has had its effect.
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
	p.take(Result{ticket, outcome})
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

// guard fails the test if the deletion takes an object that has a solid owner, by the store as it
// was right before.
func (p *play) guard(d Delete) func() {
	t := p.w.objects[d.Object.Key]
	if t == nil {
		return func() {}
	}
	var solid []Owner
	for _, o := range t.Owners {
		if p.w.naiveOwner(t, o) == "solid" || p.freed[[2]string{t.UID, o.UID}] {
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

// free takes note of whoever names an orphaning owner when it goes (J-08).
func (p *play) free(a RemoveFinalizer) func() {
	var freed [][2]string
	for _, t := range p.w.objects {
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

// finish lets everything come to its end, without faults.
func (p *play) finish() {
	for range 20_000 {
		switch {
		case len(p.w.timeline) > 0:
			p.tell()
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

// client does one thing that some client might do.
func (p *play) client() {
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	if len(keys) == 0 || p.r.IntN(3) == 0 {
		p.create()
		return
	}
	t := p.w.objects[keys[p.r.IntN(len(keys))]]
	switch p.r.IntN(9) {
	case 0, 1, 2:
		policy := Policy(p.r.IntN(3))
		p.log("client deletes %s %s", t.Key, policy)
		p.w.delete(t, policy)
	case 3:
		p.log("client unholds %s", t.Key)
		t.holds = nil
		p.w.write(t)
	case 4:
		p.log("client takes the finalizers of %s", t.Key)
		t.Flags &^= OrphanFinalizer | ForegroundFinalizer
		p.w.write(t)
	case 5:
		if p.single {
			return
		}
		i := p.r.IntN(len(p.w.kinds))
		k := p.w.kinds[i]
		p.log("%s %s is no longer served", k.APIVersion, k.Kind)
		p.w.kinds = slices.Delete(slices.Clone(p.w.kinds), i, i+1)
		p.w.timeline = append(p.w.timeline, Kinds{p.w.kinds})
		p.w.kinds = append(slices.Clone(p.w.kinds), k)
		p.w.timeline = append(p.w.timeline, Kinds{p.w.kinds})
	case 6:
		p.w.write(t)
	default:
		t.Owners = p.owners(t.Namespace)
		maps.DeleteFunc(p.freed, func(f [2]string, _ bool) bool { return f[0] == t.UID })
		p.log("client gives %s the owners %v", t.Key, t.Owners)
		p.w.write(t)
	}
}

func (p *play) create() {
	t := &thing{}
	switch p.r.IntN(6) {
	case 0:
		t.Collection = "persistentvolumes"
	case 1:
		t.Collection = "events"
	default:
		t.Collection = []string{"configmaps", "secrets", "stable.example.com/crontabs"}[p.r.IntN(3)]
	}
	if t.Collection != "persistentvolumes" {
		t.Namespace = []string{"a", "b"}[p.r.IntN(2)]
	}
	t.Name = fmt.Sprint("n", p.r.IntN(6))
	if p.w.objects[t.Key] != nil {
		return
	}
	p.uids++
	t.UID = fmt.Sprint("u", p.uids)
	t.Flags = []Flags{0, 0, 0, 0, OrphanFinalizer, ForegroundFinalizer}[p.r.IntN(6)]
	if p.r.IntN(4) == 0 {
		t.holds = []string{"x/y"}
	}
	t.Owners = p.owners(t.Namespace)
	p.log("client creates %s %s %v %v", t.Key, t.UID, t.Flags, t.Owners)
	p.w.put(t)
}

// owners makes references, most of them right.
func (p *play) owners(namespace string) []Owner {
	keys := slices.SortedFunc(maps.Keys(p.w.objects), Key.Compare)
	if len(keys) == 0 {
		return nil
	}
	n := p.r.IntN(3)
	if p.single {
		n = min(n, 1)
	}
	var owners []Owner
	for range n {
		x := p.w.objects[keys[p.r.IntN(len(keys))]]
		for range 4 {
			if x.Namespace == "" || x.Namespace == namespace {
				break
			}
			x = p.w.objects[keys[p.r.IntN(len(keys))]]
		}
		api, kind := p.w.nameOf(x.Collection)
		o := Owner{api, kind, x.Name, x.UID, p.r.IntN(2) == 0}
		mistake := p.r.IntN(20)
		if p.single {
			// A reference with somebody's uid and other coordinates is dangling by them and released by
			// that uid (D-62), whichever comes first.
			if mistake != 1 {
				mistake = 5
			}
			if x.Namespace != "" && x.Namespace != namespace {
				continue
			}
		}
		switch mistake {
		case 0:
			o.Name = "wrong"
		case 1:
			o.Kind = "Unheard"
		case 2:
			o.UID = fmt.Sprint("u", p.r.IntN(p.uids+1))
		case 3:
			o.APIVersion, o.Kind = "v1", "Secret"
		case 4:
			o.APIVersion = "stable.example.com/v1beta1"
		}
		owners = append(owners, o)
	}
	return owners
}
