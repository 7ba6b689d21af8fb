package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios runs the files of testdata. Commands:
//
//	new [limit=N] [loading]   a new world and a new graph, loaded unless said otherwise
//	step                      events for the graph, one a line; prints the actions:
//	    observe KEY uid=U [flags] [<apiVersion:Kind:name:uid[!]]...   (! blocks its owner)
//	    gone KEY | result TICKET OUTCOME | due TICKET | overdue | loaded | absent UID
//	    serve APIVERSION KIND COLLECTION [namespaced] [preferred] | unserve APIVERSION KIND
//	world                     what clients do, one a line; the graph gets no events yet:
//	    put KEY uid=U [flags] [hold=NAME] [<owner]... | delete KEY POLICY | unhold KEY | serve ... | unserve ...
//	restart [reversed]        a new graph, that loads the world in the order of its revisions or the other way round;
//	                          the next run executes its requests
//	run [retries=N]           passes the events to the graph, executes its requests until there are none; prints them
//	store                     prints the world
//	graph [UID]...            prints the snapshot
//
// The invariants are checked after every step.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &scenario{t: t}
		s.reset(64, false)
		datadriven.RunTest(t, path, s.run)
	})
}

type scenario struct {
	t *testing.T
	w *world
	g *Graph
	// todo has the actions that were not executed yet.
	todo []Action
}

func (s *scenario) reset(limit int, loading bool) {
	s.w, s.todo = newWorld(defaultKinds), nil
	s.g = New(Config{Limit: limit, Inert: []string{"events"}})
	s.step(Kinds{Table: s.w.kinds})
	if !loading {
		s.step(Loaded{})
	}
}

// step passes events to the graph and checks it.
func (s *scenario) step(e Event) []Action {
	s.t.Helper()
	actions := slices.Clone(s.g.Step(e))
	if err := s.g.Check(); err != nil {
		s.t.Fatalf("after %T %+v:\n%v", e, e, err)
	}
	return actions
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	switch d.Cmd {
	case "new":
		limit := 64
		d.MaybeScanArgs(t, "limit", &limit)
		s.reset(limit, d.HasArg("loading"))
	case "step":
		for line := range strings.Lines(d.Input) {
			for _, a := range s.step(s.event(t, strings.Fields(line))) {
				fmt.Fprintln(&b, a)
			}
		}
	case "world":
		for line := range strings.Lines(d.Input) {
			s.act(t, strings.Fields(line))
		}
	case "restart":
		s.restart(d.HasArg("reversed"))
	case "run":
		retries := 0
		d.MaybeScanArgs(t, "retries", &retries)
		s.play(&b, retries)
	case "store":
		return s.w.String()
	case "graph":
		var uids []string
		for _, a := range d.CmdArgs {
			uids = append(uids, a.Key)
		}
		for _, v := range s.g.Snapshot(uids) {
			fmt.Fprintln(&b, printView(v))
		}
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

// play lets the collector work until it has nothing to do, one request at a time.
func (s *scenario) play(b *strings.Builder, retries int) {
	for len(s.w.timeline) > 0 || len(s.todo) > 0 {
		if len(s.w.timeline) > 0 {
			e := s.w.timeline[0]
			s.w.timeline = s.w.timeline[1:]
			s.todo = append(s.todo, s.step(e)...)
			continue
		}
		a := s.todo[0]
		s.todo = s.todo[1:]
		if isRequest(a) {
			ticket, outcome := s.w.carry(a)
			fmt.Fprintf(b, "%s: %s\n", a, outcome)
			s.todo = append(s.todo, s.step(Result{ticket, outcome})...)
			continue
		}
		fmt.Fprintln(b, a)
		if r, ok := a.(Retry); ok && retries > 0 {
			retries--
			s.todo = append(s.todo, s.step(Due{r.Ticket})...)
		}
	}
}

// restart loads the world into a new graph, as after a crash: earlier requests are forgotten, and events that were not
// delivered are in the loaded state.
func (s *scenario) restart(reversed bool) {
	things := slices.SortedFunc(maps.Values(s.w.objects), func(a, b *thing) int {
		return cmp.Compare(a.Revision, b.Revision)
	})
	if reversed {
		slices.Reverse(things)
	}
	s.w.timeline = nil
	s.g = New(Config{Limit: s.g.limit, Inert: []string{"events"}, FirstTicket: s.g.Stats().NextTicket})
	s.step(Kinds{Table: s.w.kinds})
	for _, th := range things {
		s.step(Observed{Object: th.Object})
	}
	s.todo = s.step(Loaded{})
}

func (s *scenario) event(t *testing.T, f []string) Event {
	switch f[0] {
	case "observe":
		s.w.revision++
		th := s.thing(t, f[1:])
		th.Revision = s.w.revision
		th.APIVersion, th.Kind = s.w.nameOf(th.Collection)
		return Observed{Object: th.Object}
	case "gone":
		s.w.revision++
		return Gone{Key: parseKey(f[1])}
	case "result":
		i := slices.IndexFunc([]Outcome{Done, Missing, Conflict, Failed}, func(o Outcome) bool { return o.String() == f[2] })
		return Result{Ticket: parseTicket(t, f[1]), Outcome: Outcome(i)}
	case "due":
		return Due{Ticket: parseTicket(t, f[1])}
	case "absent":
		i := slices.IndexFunc(s.g.Elsewhere(), func(e Elsewhere) bool { return e.UID == f[1] })
		return Absent{Owner: s.g.Elsewhere()[i]}
	case "overdue":
		return Overdue{}
	case "loaded":
		return Loaded{}
	}
	s.serve(t, f)
	return Kinds{Table: s.w.kinds}
}

// act executes a request of a client.
func (s *scenario) act(t *testing.T, f []string) {
	if f[0] == "serve" || f[0] == "unserve" {
		s.serve(t, f)
		s.w.timeline = append(s.w.timeline, Kinds{Table: slices.Clone(s.w.kinds)})
		return
	}
	th := s.w.objects[parseKey(f[1])]
	switch {
	case f[0] == "put":
		s.w.put(s.thing(t, f[1:]))
	case th == nil:
		t.Fatalf("no %s", f[1])
	case f[0] == "delete":
		s.w.delete(
			th, map[string]Policy{"Background": Background, "Foreground": ForegroundPolicy, "Orphan": OrphanPolicy}[f[2]],
		)
	case f[0] == "unhold":
		th.holds = nil
		s.w.write(th)
	default:
		t.Fatalf("unknown request %s", f[0])
	}
}

func (s *scenario) serve(t *testing.T, f []string) {
	switch f[0] {
	case "serve":
		k := Kind{APIVersion: f[1], Kind: f[2], Collection: f[3]}
		k.Namespaced = slices.Contains(f, "namespaced")
		k.Preferred = slices.Contains(f, "preferred")
		s.w.kinds = append(s.w.kinds, k)
	case "unserve":
		s.w.kinds = slices.DeleteFunc(s.w.kinds, func(k Kind) bool { return k.APIVersion == f[1] && k.Kind == f[2] })
	default:
		t.Fatalf("unknown event %s", f[0])
	}
}

func (s *scenario) thing(t *testing.T, f []string) *thing {
	th := &thing{Object: Object{Key: parseKey(f[0])}}
	for _, word := range f[1:] {
		uid, isUID := strings.CutPrefix(word, "uid=")
		hold, isHold := strings.CutPrefix(word, "hold=")
		owner, isOwner := strings.CutPrefix(word, "<")
		switch {
		case isUID:
			th.UID = uid
		case isHold:
			th.holds = append(th.holds, hold)
		case isOwner:
			p := strings.Split(strings.TrimSuffix(owner, "!"), ":")
			th.Owners = append(th.Owners, Owner{p[0], p[1], p[2], p[3], strings.HasSuffix(owner, "!")})
		default:
			for _, flag := range strings.Split(word, ",") {
				i := slices.Index([]string{"deleting", "orphan", "foreground", "broken"}, flag)
				if i < 0 {
					t.Fatalf("unknown word %s", word)
				}
				th.Flags |= 1 << i
			}
		}
	}
	return th
}

// parseKey reads COLLECTION/NAMESPACE/NAME, or COLLECTION//NAME for cluster scope.
func parseKey(s string) Key {
	p := strings.Split(s, "/")
	n := len(p)
	return Key{strings.Join(p[:n-2], "/"), p[n-2], p[n-1]}
}

func parseTicket(t *testing.T, s string) Ticket {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return Ticket(n)
}

func printView(v View) string {
	words := []string{v.UID, v.APIVersion + "/" + v.Kind, v.Key.String()}
	if v.Missing {
		words[2] = v.Name + " missing"
	}
	for _, flag := range []struct {
		on   bool
		word string
	}{{v.Deleting, "deleting"}, {v.Waiting, "waiting"}, {v.Releasing, "releasing"}, {v.State != Idle, v.State.String()}} {
		if flag.on {
			words = append(words, flag.word)
		}
	}
	if len(v.Owners) > 0 {
		words = append(words, "-> "+strings.Join(v.Owners, " "))
	}
	return strings.Join(words, " ")
}
