package protection

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/kubecascade/kubecascade/internal/seed"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestSchedule runs testdata/schedule. Every line is a step, at a time in milliseconds:
//
//	MS pending|settled NS/NAME   an event about a protected object
//	MS released NS/NAME          a user of it went
//	MS began                     events may have been missed
//	MS begin                     a pass begins
//	MS end NS/NAME VERDICT|error how it ended
//
// The output is what each begin returned and, at the end, what is known.
func TestSchedule(t *testing.T) {
	datadriven.Walk(t, "testdata/schedule", func(t *testing.T, path string) {
		s := newSchedule()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b strings.Builder
			var now time.Time
			for _, line := range strings.Split(d.Input, "\n") {
				var ms int
				f := strings.Fields(line)
				if _, err := fmt.Sscan(f[0], &ms); err != nil || len(f) < 2 {
					d.Fatalf(t, "%q: %v", line, err)
				}
				now = epoch.Add(time.Duration(ms) * time.Millisecond)
				var key Key
				if len(f) > 2 {
					key.Namespace, key.Name, _ = strings.Cut(f[2], "/")
				}
				switch f[1] {
				case "pending", "settled":
					s.Observe(news{key: key, pending: f[1] == "pending"}, now)
				case "released":
					s.Observe(news{released: []Key{key}}, now)
				case "began":
					s.Observe(news{began: true}, now)
				case "begin":
					keys, _ := s.Begin(now)
					fmt.Fprintln(&b, "pass over", keys)
				case "end":
					s.end(key, parseOutcome(f[3]), now)
				default:
					d.Fatalf(t, "unknown step %q", line)
				}
				if err := s.check(); err != nil {
					d.Fatalf(t, "%q: %v", line, err)
				}
			}
			return b.String() + s.print(now)
		})
	})
}

func parseOutcome(word string) outcome {
	for _, v := range []Verdict{Leave, Add, Keep, Remove} {
		if word == v.String() {
			return outcome{verdict: v}
		}
	}
	return outcome{err: errors.New(word)}
}

func (s *schedule) print(now time.Time) string {
	var b strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(s.entries), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		e := s.entries[key]
		fmt.Fprintf(&b, "%s/%s %v", key.Namespace, key.Name, e.state)
		if e.state == waiting {
			at, _ := s.due.At(key)
			fmt.Fprintf(&b, " %v", at.Sub(now))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// check verifies that due has the waiting entries.
func (s *schedule) check() error {
	n := 0
	for key, e := range s.entries {
		if e.key != key {
			return fmt.Errorf("%v is stored under %v", e.key, key)
		}
		if _, waits := s.due.At(key); waits != (e.state == waiting) {
			return fmt.Errorf("%v is %v, and waits %v", key, e.state, waits)
		}
		if e.state == waiting {
			n++
		}
		if e.state != running && e.gone {
			return fmt.Errorf("%v is remembered though it is gone", key)
		}
	}
	if n != s.due.Len() {
		return fmt.Errorf("%d entries wait, %d are due", n, s.due.Len())
	}
	return nil
}

// TestScheduleRandomly sends random news and outcomes. An object on which something is pending must
// never be lost: it waits for a pass, is in one, or a pass that began after the last event on it
// found it in use.
func TestScheduleRandomly(t *testing.T) {
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s, now := newSchedule(), epoch
	keys := []Key{{"a", "1"}, {"a", "2"}, {"a", "3"}, {"b", "1"}, {"b", "2"}, {"", "1"}}
	objects := map[Key]*truth{}
	for _, key := range keys {
		objects[key] = &truth{}
	}
	for i := range 200_000 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Millisecond)
		key := keys[r.IntN(len(keys))]
		switch o := objects[key]; r.IntN(6) {
		case 0:
			o.pending, o.unseen = r.IntN(3) > 0, true
			s.Observe(news{key: key, pending: o.pending}, now)
		case 1:
			o.unseen = true
			s.Observe(news{released: []Key{key}}, now)
		case 2:
			if r.IntN(20) == 0 {
				s.Observe(news{began: true}, now)
				for _, o := range objects {
					o.unseen = true
				}
			}
		case 3:
			begun, _ := s.Begin(now)
			for _, key := range begun {
				if objects[key].running {
					t.Fatalf("seed %d, step %d: two passes over %v", seed, i, key)
				}
				objects[key].running, objects[key].unseen = true, false
			}
		default:
			if !o.running {
				break
			}
			out := outcome{verdict: Verdict(r.IntN(4))}
			if r.IntN(3) == 0 {
				out = outcome{err: errors.New("failed")}
			}
			s.end(key, out, now)
			o.running = false
			if out.err == nil && out.verdict != Keep && !o.unseen {
				o.pending = false // the pass saw to it
			}
		}
		if err := s.check(); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, i, err)
		}
		for key, o := range objects {
			if err := o.check(s.entries[key]); err != nil {
				t.Fatalf("seed %d, step %d: %v: %v", seed, i, key, err)
			}
		}
	}
}

// truth is what is so of an object, whatever the schedule says.
type truth struct {
	// unseen: no pass has begun since the last event.
	pending, running, unseen bool
}

// check compares the schedule's entry, nil if there is none, with it.
func (o *truth) check(e *entry) error {
	switch {
	case o.pending && (e == nil || e.gone):
		return errors.New("it is lost")
	case o.pending && o.unseen && e.state == held:
		return errors.New("no pass will follow")
	case !o.pending && e != nil && !o.running && !o.unseen && e.state != waiting:
		return errors.New("it is remembered for nothing")
	}
	return nil
}
