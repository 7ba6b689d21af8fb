package namespace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestSchedule runs testdata/schedule. The commands are
//
//	at T                          the time is T after the beginning
//	exists NAME [deleting]        events
//	gone NAME
//	content NAME
//	begin                         the pass that may begin, if one may
//	end NAME [done] [err] [after=T] [left=N]
//	                              how a pass ended
//
// Each prints when which pass may begin next.
func TestSchedule(t *testing.T) {
	s, now := newSchedule(), epoch
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
			s.Observe(Event{Type: Exists, Namespace: name, Deleting: d.HasArg("deleting"), Revision: rev}, now)
		case "gone":
			s.Observe(Event{Type: Gone, Namespace: name}, now)
		case "removed":
			s.Observe(Event{Type: Removed, Namespace: name, Revision: rev}, now)
		case "begin":
			if _, ok := s.Begin(now); !ok {
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
			s.End(name, o, now)
		default:
			d.Fatalf(t, "unknown command")
		}
		if err := s.check(); err != nil {
			d.Fatalf(t, "%v", err)
		}
		next, at, ok := s.waiting.First()
		switch {
		case ok && !at.After(now):
			return warned + next + " may begin\n"
		case ok:
			return warned + fmt.Sprintf("%s in %v\n", next, at.Sub(now))
		}
		return warned + "nothing waits\n"
	})
}

func duration(t *testing.T, d *datadriven.TestData, s string) time.Duration {
	n, err := time.ParseDuration(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

// check returns the first invariant that does not hold.
func (s *schedule) check() error {
	waiting := 0
	for name, e := range s.entries {
		_, waits := s.waiting.At(name)
		switch {
		case e.name != name:
			return fmt.Errorf("%s is kept as %s", e.name, name)
		case waits == e.running:
			return fmt.Errorf("%s waits %v, and a pass is under way %v", name, waits, e.running)
		case waits && e.gone:
			return fmt.Errorf("%s waits and is gone", name)
		case waits:
			waiting++
		}
	}
	if waiting != s.waiting.Len() {
		return fmt.Errorf("%d of %d waiting are known", waiting, s.waiting.Len())
	}
	if n := s.known.Load(); n != int64(len(s.entries)) {
		return fmt.Errorf("%d of %d are told of", n, len(s.entries))
	}
	return nil
}

// TestScheduleRandomly sends random events and outcomes. No namespace that is deleting may get
// lost: what was not said to be done, gone or alive has an entry.
func TestScheduleRandomly(t *testing.T) {
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s, now := newSchedule(), epoch
	owed := map[string]bool{}    // deleting, and no pass has found that nothing is left to do
	running := map[string]bool{} // a pass is under way
	for i := range 200_000 {
		now = now.Add(time.Duration(r.IntN(50)) * time.Millisecond)
		name := string(rune('a' + r.IntN(8)))
		switch r.IntN(5) {
		case 0:
			owed[name] = r.IntN(4) > 0
			s.Observe(Event{Type: Exists, Namespace: name, Deleting: owed[name], Revision: int64(i)}, now)
		case 1:
			s.Observe(Event{Type: Gone, Namespace: name}, now)
			owed[name] = false
		case 2:
			s.Observe(Event{Type: Removed, Namespace: name, Revision: int64(i)}, now)
		case 3:
			if next, ok := s.Begin(now); ok {
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
				s.End(name, o, now)
				running[name] = false
				if o.done && !again {
					owed[name] = false
				}
			}
		}
		if err := s.check(); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, i, err)
		}
		for name, is := range owed {
			if e := s.entries[name]; is && (e == nil || e.gone) {
				t.Fatalf("seed %d, step %d: %s is lost", seed, i, name)
			}
		}
	}
}
