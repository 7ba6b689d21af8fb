package budget

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecascade/kubecascade/internal/seed"
)

const mib = 1 << 20

// line is requests of a test.
type line struct {
	*Budget
	t       *testing.T
	mu      sync.Mutex
	granted []string
	leases  map[string]*Lease
	errs    map[string]error
}

func start(t *testing.T, total int64, slots int) *line {
	return &line{Budget: New(total, slots), t: t, leases: map[string]*Lease{}, errs: map[string]error{}}
}

// ask lets a request begin, and returns when it has what it wants, or waits.
func (l *line) ask(ctx context.Context, name string, c Claim) {
	go func() {
		lease, err := l.Acquire(ctx, c)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leases[name], l.errs[name] = lease, err
		if err == nil {
			l.granted = append(l.granted, name)
		}
	}()
	synctest.Wait()
}

// end lets a request end.
func (l *line) end(name string) {
	l.leases[name].Release()
	synctest.Wait()
}

// want compares who was granted what it wants since the last call, by name.
func (l *line) want(names ...string) {
	l.t.Helper()
	slices.Sort(l.granted)
	if !slices.Equal(l.granted, names) {
		l.t.Errorf("granted %v, want %v", l.granted, names)
	}
	l.granted = nil
}

// empty: nothing is left of the requests.
func (l *line) empty() {
	l.t.Helper()
	if c := l.Counts(); c.Held != 0 || c.Waiting != 0 || len(l.holders) != 0 || l.slow != 0 || l.waiting != [2]int{} ||
		l.parked != 0 || l.away != 0 || len(l.resuming) != 0 {
		l.t.Errorf("left: %+v, %d holders, %d slots", c, len(l.holders), l.slow)
	}
}

// TestCeilings: heavy claims leave room for light ones, and others' for the masters'.
func TestCeilings(t *testing.T) {
	for _, c := range []struct {
		bytes  int64
		master bool
		most   int64
	}{
		{12 * mib, false, 48}, {12 * mib, true, 48}, {8 * mib, true, 56}, {mib, false, 56}, {mib, true, 64},
	} {
		b := New(64*mib, 100)
		for i := 0; b.Try(Claim{Holder: fmt.Sprint(i), Bytes: c.bytes, Master: c.master}) != nil; i++ {
		}
		if held := b.Counts().Held; held != c.most*mib {
			t.Errorf("%+v: %d MiB held", c, held/mib)
		}
	}
	b := New(64*mib, 1)
	if _, err := b.Acquire(t.Context(), Claim{Holder: "a", Bytes: 48*mib + 1, Master: false}); !errors.Is(
		err, ErrTooLarge,
	) {
		t.Errorf("larger than the budget: %v", err)
	}
	if l, err := b.Acquire(t.Context(), Claim{
		Holder: "a", Bytes: 48 * mib, Master: false,
	}); err != nil || l.Bytes() != 48*mib {
		t.Errorf("as large as the budget: %v", err)
	}
}

// TestTurns: who holds less goes first, light claims don't wait for heavy ones, and a claim that waits for room isn't
// passed by heavy ones of others.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, 128*mib, 100) // 96 for heavy claims
		ctx := t.Context()
		l.ask(ctx, "a1", Claim{Holder: "a", Bytes: 40 * mib, Master: false})
		l.ask(ctx, "b1", Claim{Holder: "b", Bytes: 50 * mib, Master: false})
		l.want("a1", "b1")
		l.ask(ctx, "a2", Claim{Holder: "a", Bytes: 8 * mib, Master: false}) // no more than half for one
		l.ask(ctx, "a3", Claim{Holder: "a", Bytes: 8 * mib, Master: false})
		l.ask(ctx, "c1", Claim{Holder: "c", Bytes: 60 * mib, Master: false}) // no room
		l.ask(ctx, "d1", Claim{Holder: "d", Bytes: 2 * mib, Master: false})  // there is room, but c waits for it
		l.want()
		l.ask(ctx, "d2", Claim{Holder: "d", Bytes: mib, Master: false})
		l.want("d2")
		l.end("a1")
		l.want("a2") // it came before c, and neither holds anything
		l.end("b1")
		l.want("a3", "c1", "d1")
		for _, name := range []string{"a2", "a3", "c1", "d1", "d2"} {
			l.end(name)
		}
		l.empty()
	})
}

// TestSlots: of slow claims so many are held at a time, and one holder leaves others a slot.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, 1024*mib, 2)
		ctx := t.Context()
		for i := range 4 {
			l.ask(ctx, fmt.Sprint("a", i), Claim{Holder: "a", Bytes: Slow, Master: false})
		}
		l.want("a0")
		l.ask(ctx, "b0", Claim{Holder: "b", Bytes: Slow, Master: false})
		l.ask(ctx, "c0", Claim{Holder: "c", Bytes: Slow, Master: false})
		l.want("b0")
		l.ask(ctx, "a4", Claim{Holder: "a", Bytes: mib, Master: false})
		l.want("a4")
		l.leases["a0"].Shrink(Slow) // its work is done
		synctest.Wait()
		l.want("c0") // it holds nothing yet
		l.end("b0")
		l.want("a1")
		l.end("c0")
		l.want()
		for _, name := range []string{"a0", "a1", "a2", "a3", "a4"} {
			l.end(name)
		}
		l.want("a2", "a3")
		l.empty()
	})
}

// TestGone: who has gone waits no more, and those behind go on.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, 64*mib, 4)
		l.ask(t.Context(), "a", Claim{Holder: "a", Bytes: 40 * mib, Master: false})
		gone := errors.New("gone")
		ctx, leave := context.WithCancelCause(t.Context())
		l.ask(ctx, "b", Claim{Holder: "b", Bytes: 40 * mib, Master: false})
		l.ask(t.Context(), "c", Claim{Holder: "c", Bytes: 4 * mib, Master: false})
		l.want("a")
		leave(gone)
		synctest.Wait()
		l.want("c")
		if !errors.Is(l.errs["b"], gone) {
			t.Error(l.errs["b"])
		}
		late, cancel := context.WithTimeoutCause(t.Context(), 8*time.Second, gone)
		defer cancel()
		began := time.Now()
		if _, err := l.Acquire(late, Claim{
			Holder: "b", Bytes: 40 * mib, Master: false,
		}); !errors.Is(err, gone) || time.Since(began) != 8*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if c := l.Counts(); c.Ended != 2 {
			t.Errorf("%+v", c)
		}
		l.end("a")
		l.end("c")
		l.empty()
	})
}

// TestFull: a flood that waits is bounded at its own cost.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, 64*mib, 4)
		l.ask(t.Context(), "first", Claim{Holder: "z", Bytes: 48 * mib, Master: false})
		for i := range maxWaiting {
			l.ask(t.Context(), fmt.Sprint("flood", i), Claim{Holder: "flood", Bytes: 2 * mib, Master: false})
		}
		l.ask(t.Context(), "more", Claim{Holder: "flood", Bytes: 2 * mib, Master: false})
		if !errors.Is(l.errs["more"], ErrFull) {
			t.Errorf("one more than may wait: %v", l.errs["more"])
		}
		l.ask(t.Context(), "other", Claim{Holder: "other", Bytes: 2 * mib, Master: false})
		if last := fmt.Sprint("flood", maxWaiting-1); l.errs["other"] != nil || !errors.Is(l.errs[last], ErrFull) {
			t.Errorf("another's: %v; the flood's last: %v", l.errs["other"], l.errs[last])
		}
		l.want("first")
		l.end("first")
		if l.leases["flood0"] == nil || l.leases["other"] == nil {
			t.Errorf("granted %v", l.granted)
		}
		for len(l.leases) > 0 {
			for name, lease := range l.leases {
				if lease != nil {
					l.end(name)
				}
				if lease != nil || l.errs[name] != nil {
					delete(l.leases, name)
				}
			}
		}
		l.empty()
	})
}

// TestRandom: whatever is asked for and given back, the sums hold, and in the end everything was granted.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	synctest.Test(t, func(t *testing.T) {
		l := start(t, 64*mib, 3)
		live := map[string]bool{}
		check := func() {
			var held, heavy int64
			slow := 0
			for _, h := range l.holders {
				held, heavy, slow = held+h.bytes, heavy+h.heavy, slow+h.slow
			}
			if held != l.counts.Held || held > 64*mib || heavy > 56*mib || slow != l.slow || slow > 3 {
				t.Fatalf("held %d of %d, heavy %d, slow %d of %d", held, l.counts.Held, heavy, slow, l.slow)
			}
		}
		for i := range 2000 {
			if name := fmt.Sprint(i); r.IntN(5) > 1 {
				live[name] = true
				l.ask(
					t.Context(), name,
					Claim{Holder: fmt.Sprint(r.IntN(4)), Bytes: 1 + r.Int64N(1<<(10+r.IntN(16))), Master: r.IntN(4) == 0},
				)
			}
			check()
			for name := range live { // any
				if lease := l.leases[name]; lease != nil {
					if r.IntN(2) == 0 {
						lease.Shrink(lease.Bytes() / 2)
					} else {
						l.end(name)
						delete(live, name)
					}
					synctest.Wait()
					break
				}
			}
			check()
		}
		for len(live) > 0 {
			n := len(live)
			for name := range live {
				if l.leases[name] != nil {
					l.end(name)
					delete(live, name)
				}
			}
			if len(live) == n {
				t.Fatalf("%d requests wait for ever: %+v", n, l.Counts())
			}
		}
		l.empty()
	})
}

func BenchmarkAcquire(b *testing.B) {
	m := New(1<<30, 2)
	b.ReportAllocs()
	for b.Loop() {
		l, err := m.Acquire(b.Context(), Claim{Holder: "user", Bytes: 100_000, Master: false})
		if err != nil {
			b.Fatal(err)
		}
		l.Release()
	}
}

// TestMost: a claim that is larger than it may be is rejected, however much is free.
func TestMost(t *testing.T) {
	b := New(1<<30, 2)
	c := Claim{Holder: "a", Bytes: 65 << 20, Most: 64 << 20}
	if l, err := b.Acquire(t.Context(), c); !errors.Is(err, ErrTooLarge) || l != nil || b.Counts().TooLarge != 1 {
		t.Errorf("%v, %v", l, err)
	}
	c.Bytes = c.Most
	other, err := b.Acquire(t.Context(), Claim{Holder: "b", Bytes: 128 << 20})
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Acquire(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	other.Release()
}

// TestLightShare: a holder with many light claims leaves room for the light and the heavy claims of others.
func TestLightShare(t *testing.T) {
	b := New(64<<20, 2)
	n := 0
	for b.Try(Claim{Holder: "a", Bytes: Light}) != nil {
		n++
	}
	if most := int(b.ceiling(Claim{}) / 2 / Light); n != most {
		t.Errorf("%d light claims of one holder, want %d", n, most)
	}
	for _, bytes := range []int64{Light, 4 << 20} {
		if b.Try(Claim{Holder: "b", Bytes: bytes}) == nil {
			t.Errorf("no room for %d bytes of another holder", bytes)
		}
	}
}
