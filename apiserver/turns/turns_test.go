package turns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTurns: many of one holder that wait delay another's first by one turn at most, and each holder's have their turns
// in the order in which they came.
func TestTurns(t *testing.T) {
	const n = 100
	turns := New[string](1, 1, 0)
	if !turns.Try() {
		t.Fatal("there is no place")
	}
	had := make(chan string)
	wait := func(ctx context.Context, holder, name string) {
		t.Helper()
		before := turns.Waiting(Now, holder)
		go func() {
			if err := turns.Begin(Now, holder, ctx.Done()); err != nil {
				had <- err.Error()
				return
			}
			had <- name
			turns.End(Now)
		}()
		turns.await(holder, before+1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var want []string
	for i := range n {
		name := fmt.Sprint("flood ", i)
		wait(t.Context(), "flood", name)
		want = append(want, name)
	}
	wait(t.Context(), "other", "other 0")
	wait(t.Context(), "other", "other 1")
	wait(ctx, "gone", "gone")
	cancel()
	if got := <-had; got != ErrGone.Error() {
		t.Error(got)
	}
	want = slices.Insert(want, 1, "other 0")
	want = slices.Insert(want, 3, "other 1")
	turns.End(Now)
	var got []string
	for range want {
		got = append(got, <-had)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := turns.Begin(Now, "other", nil); err != nil { // all have ended theirs
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := turns.Begin(Now, "other", ctx.Done()); err != ErrGone {
		t.Error(err)
	}
	turns.End(Now)
	turns.empty(t)
}

// TestFull: when many wait, no more of their holder do, and those of others do up to as many.
func TestFull(t *testing.T) {
	const most = 12
	turns := New[string](1, 1, most)
	if !turns.Try() {
		t.Fatal("there is no place")
	}
	stop := make(chan struct{})
	ended := make(chan error)
	began := 0
	begin := func(holder string, rejected bool) {
		t.Helper()
		if rejected {
			if err := turns.Begin(Now, holder, stop); err != ErrFull {
				t.Fatalf("%s: %v", holder, err)
			}
			return
		}
		before := turns.Waiting(Now, holder)
		go func() { ended <- turns.Begin(Now, holder, stop) }()
		turns.await(holder, before+1)
		began++
	}
	for range most {
		begin("flood", false)
	}
	begin("flood", true)
	for range most / 2 {
		begin("other", false)
	}
	begin("other", true)
	for range most / 3 {
		begin("third", false)
	}
	begin("third", true)
	for i := range 2*most - began {
		begin(fmt.Sprint(i), false)
	}
	begin("flood", true)
	close(stop)
	for range began {
		if err := <-ended; err != ErrGone {
			t.Error(err)
		}
	}
	turns.End(Now)
	turns.empty(t)
}

// empty checks that nothing is left.
func (t *Turns[K]) empty(test *testing.T) {
	test.Helper()
	if t.free != [ranks]int{1, 1} || t.Waits() != 0 || t.rings != [ranks]ring[K]{} || len(t.by) != 0 {
		test.Errorf("%v are free, %d wait, of %v", t.free, t.Waits(), t.by)
	}
}

// await waits until so many of a holder's wait.
func (t *Turns[K]) await(key K, n int) { t.awaitRank(Now, key, n) }

func (t *Turns[K]) awaitRank(r Rank, key K, n int) {
	for t.Waiting(r, key) != n {
		time.Sleep(100 * time.Microsecond)
	}
}

// TestLater: a holder's turns of rank Later wait while many of its turns of rank Now do, but not for ever, and those of
// others don't wait for that.
func TestLater(t *testing.T) {
	turns := New[string](1, 1, 0)
	if !turns.Try() {
		t.Fatal("there is no place")
	}
	began := [ranks]chan struct{}{make(chan struct{}), make(chan struct{})}
	begin := func(r Rank) {
		t.Helper()
		before := turns.Waiting(r, "a")
		go func() {
			if err := turns.Begin(r, "a", t.Context().Done()); err != nil {
				t.Error(err)
			}
			began[r] <- struct{}{}
		}()
		turns.awaitRank(r, "a", before+1)
	}
	for range Few {
		begin(Now)
	}
	begin(Later)
	if err := turns.Begin(Later, "b", nil); err != nil {
		t.Fatal(err)
	}
	turns.End(Later) // the place is free, and a's turn must not come
	if turns.Waiting(Later, "a") != 1 {
		t.Error("a turn has come before what there is to do is begun")
	}
	turns.End(Now)
	<-began[Now] // there are few now
	<-began[Later]
	turns.End(Later)
	begin(Now)
	begin(Later)
	for n := 1; turns.Waiting(Later, "a") > 0; n++ { // there are always many
		begin(Now)
		turns.End(Now)
		if <-began[Now]; n > Few {
			t.Fatal("after as many others a turn has not come")
		}
	}
	<-began[Later]
	turns.End(Later)
	for turns.Waiting(Now, "a") > 0 {
		turns.End(Now)
		<-began[Now]
	}
	turns.End(Now)
	turns.empty(t)
}

// TestChurn: whatever comes and goes, there are never more turns than places, and nothing is left at the end.
func TestChurn(t *testing.T) {
	const now, later = 3, 2
	turns := New[int](now, later, 20)
	var at [ranks]atomic.Int64
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 500 {
				r := Rank(random.IntN(int(ranks)))
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(4) == 0 {
					go cancel()
				}
				err := turns.Begin(r, random.IntN(8), ctx.Done())
				cancel()
				if err != nil {
					continue
				}
				if n := at[r].Add(1); n > int64([ranks]int{now, later}[r]) {
					t.Errorf("%d turns of rank %d", n, r)
				}
				time.Sleep(100 * time.Microsecond)
				at[r].Add(-1)
				turns.End(r)
			}
		})
	}
	all.Wait()
	if turns.free != [ranks]int{now, later} || turns.Waits() != 0 || len(turns.by) != 0 ||
		turns.rings != [ranks]ring[int]{} {
		t.Errorf("%v are free, %d wait, of %v", turns.free, turns.Waits(), turns.by)
	}
}
