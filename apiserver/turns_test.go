package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestTurns: many of one holder that wait delay another's first by one turn at most, and each holder's have their turns
// in the order in which they came.
func TestTurns(t *testing.T) {
	const n = 100
	turns := newTurns(1)
	release, err := turns.acquire(t.Context(), "flood", atOnce)
	if err != nil {
		t.Fatal(err)
	}
	had := make(chan string)
	wait := func(ctx context.Context, holder, name string, before int) {
		t.Helper()
		go func() {
			release, err := turns.acquire(ctx, holder, atOnce)
			if err != nil {
				had <- err.Error()
				return
			}
			had <- name
			release()
		}()
		turns.awaitWaiting(holder, before+1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var want []string
	for i := range n {
		name := fmt.Sprint("flood ", i)
		wait(t.Context(), "flood", name, i)
		want = append(want, name)
	}
	wait(t.Context(), "other", "other 0", 0)
	wait(t.Context(), "other", "other 1", 1)
	wait(ctx, "gone", "gone", 0)
	cancel()
	if got := <-had; got != context.Canceled.Error() {
		t.Error(got)
	}
	want = slices.Insert(want, 1, "other 0")
	want = slices.Insert(want, 3, "other 1")
	release()
	var got []string
	for range want {
		got = append(got, <-had)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	last, err := turns.acquire(t.Context(), "other", atOnce) // all gave theirs back
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := turns.acquire(ctx, "other", atOnce); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	last()
	if turns.free != 1 || len(turns.order) != 0 || len(turns.waiting) != 0 {
		t.Errorf("%d are free, %v and %v wait", turns.free, turns.order, turns.waiting)
	}
}

// atOnce waits with nothing to leave.
func atOnce(wait func()) { wait() }

// awaitWaiting waits until so many of a holder's wait.
func (t *turns) awaitWaiting(holder string, n int) {
	for waits := -1; waits != n; {
		t.mu.Lock()
		waits = len(t.waiting[holder])
		t.mu.Unlock()
	}
}
