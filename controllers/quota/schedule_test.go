package quota

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestSchedule runs testdata/schedule. The commands are
//
//	at T                             the time is T after the beginning
//	exists NAMESPACE QUOTA [unknown] events
//	gone NAMESPACE QUOTA
//	content NAMESPACE
//	begin                            the pass that may begin
//	end NAMESPACE [err]              how a pass ended
//
// Each prints when which pass may begin next.
func TestSchedule(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, now := newSchedule(), start
	datadriven.RunTest(t, "testdata/schedule", func(t *testing.T, d *datadriven.TestData) string {
		arg := func(i int) string {
			if i < len(d.CmdArgs) {
				return d.CmdArgs[i].Key
			}
			return ""
		}
		switch d.Cmd {
		case "at":
			after, err := time.ParseDuration(arg(0))
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			now = start.Add(after)
		case "exists":
			s.Observe(Event{Type: Exists, Namespace: arg(0), Name: arg(1), Unknown: d.HasArg("unknown")}, now)
		case "gone":
			s.Observe(Event{Type: Gone, Namespace: arg(0), Name: arg(1)}, now)
		case "content":
			s.Observe(Event{Type: Content, Namespace: arg(0)}, now)
		case "begin":
			if _, ok := s.Begin(now); !ok {
				d.Fatalf(t, "nothing may begin")
			}
		case "end":
			var err error
			if d.HasArg("err") {
				err = errors.New("failed")
			}
			s.End(arg(0), err, now)
		default:
			d.Fatalf(t, "unknown command")
		}
		check(t, s)
		name, at, ok := s.waiting.First()
		switch {
		case ok && !at.After(now):
			return name + " now"
		case ok:
			return fmt.Sprintf("%s at %v", name, at.Sub(start))
		}
		return "nothing"
	})
}

// check fails the test if the schedule contradicts itself.
func check(t *testing.T, s *schedule) {
	t.Helper()
	waiting := 0
	for name, e := range s.entries {
		_, waits := s.waiting.At(name)
		if waits {
			waiting++
		}
		if e.name != name || waits != (!e.running && !e.since.IsZero()) || len(e.quotas) == 0 && !e.running {
			t.Errorf("entry %s: %+v", name, e)
		}
	}
	if waiting != s.waiting.Len() {
		t.Errorf("%d entries wait, %d are in the queue", waiting, s.waiting.Len())
	}
}
