package namespace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestPassesBeginWhenDue runs testdata/schedule. The commands are
//
//	at T                                the time is T after the beginning
//	exists NAME [deleting] [rev=N]      events
//	gone NAME
//	removed NAME [rev=N]                an object of the namespace is gone
//	begin                               the pass that may begin, if one may
//	end NAME [done] [err] [after=T] [left=N] [counted=N] [revision=N]
//	                                    the outcome of a pass
//
// Each prints when which pass may begin next.
func TestPassesBeginWhenDue(t *testing.T) {
	s, now := newScheduled(), epoch
	datadriven.RunTest(t, "testdata/schedule", func(t *testing.T, d *datadriven.TestData) string {
		name := ""
		if len(d.CmdArgs) > 0 {
			name = d.CmdArgs[0].Key
		}
		rev, warned := int64(0), ""
		d.MaybeScanArgs(t, "rev", &rev)
		s.warn = func(name string, o outcome) { warned = fmt.Sprintf("warning: %s: %v\n", name, o.err) }
		switch d.Cmd {
		case "at":
			now = epoch.Add(duration(t, d, name))
		case "exists":
			s.event(Event{Type: Exists, Namespace: name, Deleting: d.HasArg("deleting"), Revision: rev}, now)
		case "gone":
			s.event(Event{Type: Gone, Namespace: name}, now)
		case "removed":
			s.event(Event{Type: Removed, Namespace: name, Revision: rev}, now)
		case "begin":
			if s.pass(now) == "" {
				d.Fatalf(t, "nothing may begin")
			}
		case "end":
			o := outcome{done: d.HasArg("done")}
			if d.HasArg("err") {
				o.err = errors.New("failed")
			}
			d.MaybeScanArgs(t, "left", &o.left)
			d.MaybeScanArgs(t, "counted", &o.counted)
			d.MaybeScanArgs(t, "revision", &o.revision)
			if a, ok := d.Arg("after"); ok {
				o.after = duration(t, d, a.Vals[0])
			}
			s.keys.End(name, s.end(name, o, now), now)
		default:
			d.Fatalf(t, "unknown command")
		}
		due := s.waits()
		switch {
		case len(due) == 0:
			return warned + "nothing waits\n"
		case !due[0].Until.After(now):
			return warned + due[0].Object.Name + " may begin\n"
		}
		return warned + fmt.Sprintf("%s in %v\n", due[0].Object.Name, due[0].Until.Sub(now))
	})
}

// scheduled is a schedule with the keys that wait for a pass, as in a loop.
type scheduled struct {
	*schedule
	keys *reconcile.Keys[string]
}

func newScheduled() *scheduled {
	return &scheduled{newSchedule(), reconcile.NewKeys(backoff, strings.Compare)}
}

func (s *scheduled) event(e Event, now time.Time) {
	if s.observe(e) {
		s.keys.Observe(e.Namespace, now)
	}
}

// waits returns the passes that wait, except those that do nothing.
func (s *scheduled) waits() []reconcile.Wait {
	due, _ := s.keys.Waits(100, reconcile.Namespace)
	return slices.DeleteFunc(due, func(w reconcile.Wait) bool { return s.entries[w.Object.Name] == nil })
}

// pass begins a pass, and returns its namespace; empty if none is due.
func (s *scheduled) pass(now time.Time) string {
	for key, ok := s.keys.Begin(now); ok; key, ok = s.keys.Begin(now) {
		if s.begin(key) {
			return key
		}
		s.keys.End(key, reconcile.Outcome{}, now)
	}
	return ""
}

func duration(t *testing.T, d *datadriven.TestData, s string) time.Duration {
	n, err := time.ParseDuration(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// TestScheduleRandomly sends random events and outcomes. No namespace that is deleting may get
// lost: what was not said to be done, gone or alive has an entry.
func TestScheduleRandomly(t *testing.T) {
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s, now := newScheduled(), epoch
	owed := map[string]bool{}    // deleting, and no pass has found that nothing is left to do
	running := map[string]bool{} // a pass is under way
	for i := range 200_000 {
		now = now.Add(time.Duration(r.IntN(50)) * time.Millisecond)
		name := string(rune('a' + r.IntN(8)))
		switch r.IntN(5) {
		case 0:
			owed[name] = r.IntN(4) > 0
			s.event(Event{Type: Exists, Namespace: name, Deleting: owed[name], Revision: int64(i)}, now)
		case 1:
			s.event(Event{Type: Gone, Namespace: name}, now)
			owed[name] = false
		case 2:
			s.event(Event{Type: Removed, Namespace: name, Revision: int64(i)}, now)
		case 3:
			if next := s.pass(now); next != "" {
				if running[next] {
					t.Fatalf("seed %d, step %d: two passes over %s", seed, i, next)
				}
				running[next] = true
			}
		case 4:
			if running[name] {
				o := outcome{done: r.IntN(2) == 0, after: time.Second, left: r.IntN(3), counted: int64(max(0, i-r.IntN(20))),
					revision: int64(max(0, i-r.IntN(20)))}
				again := s.entries[name].changed > o.revision
				if r.IntN(3) == 0 {
					o = outcome{err: errors.New("failed")}
				}
				s.keys.End(name, s.end(name, o, now), now)
				running[name] = false
				if o.done && !again {
					owed[name] = false
				}
			}
		}
		waiting := map[string]bool{}
		for _, d := range s.waits() {
			waiting[d.Object.Name] = true
		}
		for name, is := range owed {
			if e := s.entries[name]; is && (e == nil || e.gone || !e.running && !waiting[name]) {
				t.Fatalf("seed %d, step %d: %s is lost", seed, i, name)
			}
		}
	}
}
