package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/internal/seed"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestKeysGetAPassWhenDue runs testdata/keys. Every line is a step, at a time in milliseconds after the start:
//
//	MS wake KEY                              an event
//	MS begin                                 a pass begins, if one may
//	MS end KEY [err] [again=MS] [rest=MS]    how it ended
//
// The output is what each begin returned and, at the end, what waits.
func TestKeysGetAPassWhenDue(t *testing.T) {
	s := NewKeys(Backoff{5 * time.Millisecond, time.Second}, strings.Compare)
	datadriven.RunTest(t, "testdata/keys", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		now := epoch
		for _, line := range strings.Split(d.Input, "\n") {
			f := strings.Fields(line)
			now = epoch.Add(millis(t, d, f[0]))
			switch f[1] {
			case "wake":
				s.Observe(f[2], now)
			case "begin":
				if key, ok := s.Begin(now); ok {
					fmt.Fprintf(&b, "%s begins\n", key)
				} else {
					fmt.Fprintf(&b, "nothing begins\n")
				}
			case "end":
				s.End(f[2], outcome(t, d, f[3:]), now)
			default:
				d.Fatalf(t, "unknown step %q", line)
			}
			if err := s.check(); err != nil {
				d.Fatalf(t, "%q: %v", line, err)
			}
		}
		first := s.waiting.Earliest(1)
		if len(first) == 0 {
			return b.String() + "nothing waits\n"
		}
		at, _ := s.waiting.At(first[0])
		return b.String() + fmt.Sprintf("%s waits for %v\n", first[0], at.Sub(now))
	})
}

func millis(t *testing.T, d *datadriven.TestData, text string) time.Duration {
	n, err := time.ParseDuration(text + "ms")
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

func outcome(t *testing.T, d *datadriven.TestData, words []string) (o Outcome) {
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "err":
			o.Err = errors.New("failed")
		case "again":
			o.Again = millis(t, d, v)
		case "rest":
			o.Rest = millis(t, d, v)
		default:
			d.Fatalf(t, "unknown word %q", w)
		}
	}
	return o
}

// check returns the first invariant that doesn't hold.
func (s *Keys[K]) check() error {
	waiting, resting := 0, 0
	for key, e := range s.entries {
		_, waits := s.waiting.At(key)
		_, rests := s.resting.At(key)
		n := 0
		for _, is := range []bool{waits, rests, e.running} {
			if is {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("%v waits %v, rests %v, runs %v", key, waits, rests, e.running)
		}
		if waits {
			waiting++
		}
		if rests {
			resting++
		}
	}
	if waiting != s.waiting.Len() || resting != s.resting.Len() {
		return fmt.Errorf(
			"%d of %d waiting and %d of %d resting are known", waiting, s.waiting.Len(), resting, s.resting.Len())
	}
	if waiting != s.waiting.order.Len() || resting != s.resting.order.Len() {
		return fmt.Errorf("%d and %d places", s.waiting.order.Len(), s.resting.order.Len())
	}
	return nil
}

// TestKeysRandomly: no event is lost, and no two passes over one key overlap.
func TestKeysRandomly(t *testing.T) {
	seed := seed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s := NewKeys(Backoff{5 * time.Millisecond, time.Second}, strings.Compare)
	now, running, unseen := epoch, map[string]bool{}, map[string]bool{}
	for i := range 100_000 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Millisecond)
		key := string(rune('a' + r.IntN(6)))
		switch r.IntN(3) {
		case 0:
			s.Observe(key, now)
			unseen[key] = true
		case 1:
			if key, ok := s.Begin(now); ok {
				if running[key] {
					t.Fatalf("seed %d, step %d: two passes over %s", seed, i, key)
				}
				running[key], unseen[key] = true, false
			}
		case 2:
			if !running[key] {
				break
			}
			var o Outcome
			switch r.IntN(4) {
			case 0:
				o.Err = errors.New("failed")
			case 1:
				o.Again = 100 * time.Millisecond
			case 2:
				o.Rest = 30 * time.Millisecond
			}
			s.End(key, o, now)
			running[key] = false
		}
		if err := s.check(); err != nil {
			t.Fatalf("seed %d, step %d: %v", seed, i, err)
		}
		for key, is := range unseen {
			if _, waits := s.waiting.At(key); is && !waits && !running[key] {
				t.Fatalf("seed %d, step %d: %s is lost", seed, i, key)
			}
		}
	}
	now = now.Add(time.Hour)
	for len(s.entries) > 0 { // what has nothing to do is forgotten
		key, ok := s.Begin(now)
		if !ok {
			for key, is := range running {
				if is {
					s.End(key, Outcome{}, now)
				}
				running[key] = false
			}
			now = now.Add(time.Hour)
			continue
		}
		s.End(key, Outcome{}, now)
	}
}

// TestLoopRunsPassesAndStops: passes run concurrently, up to the number of workers. A failed pass is repeated. After
// Run no goroutine is left, even if a pass is running and the source is broken.
func TestLoopRunsPassesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, passes := 0, 0, map[string]int{}
		broken := 0
		loop := Loop[string]{
			Keys: NewKeys(Backoff{5 * time.Millisecond, time.Second}, strings.Compare), Workers: 3,
			Log: slog.New(slog.DiscardHandler), What: "nothing",
			Follow: func(ctx context.Context, sink func(string)) error {
				mu.Lock()
				broken++
				first := broken == 1
				mu.Unlock()
				if first {
					return errors.New("broken")
				}
				for i := range 10 {
					sink(fmt.Sprint("key-", i))
				}
				<-ctx.Done()
				return ctx.Err()
			},
			Pass: func(ctx context.Context, key string) Outcome {
				mu.Lock()
				now++
				most = max(most, now)
				passes[key]++
				n := passes[key]
				mu.Unlock()
				Sleep(ctx, 100*time.Millisecond)
				mu.Lock()
				now--
				mu.Unlock()
				if key == "key-3" && n < 4 {
					return Outcome{Err: errors.New("failed")}
				}
				return Outcome{}
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			loop.Run(ctx)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		if most != 3 || len(passes) != 10 || passes["key-3"] != 4 || passes["key-4"] != 1 {
			t.Errorf("%d at once, passes %v", most, passes)
		}
		mu.Unlock()
		cancel()
		<-done
	})
}
