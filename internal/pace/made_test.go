package pace

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestDue(t *testing.T) {
	for _, c := range []struct {
		objects, live uint64
		want          bool
	}{
		{large + rare, large, false},       // a small heap
		{4 * large, large, false},          // one that may double
		{2*large + rare, 2 * large, false}, // no more than it may
		{2*large + rare + 1, 2 * large, true},
		{large, 2 * large, false}, // less than was live
	} {
		if got := due(c.objects, c.live); got != c.want {
			t.Errorf("%d MiB of which %d are live: %v", c.objects>>20, c.live>>20, got)
		}
	}
}

// TestMade: one collection runs at a time, and only when it is due; who has made too much waits for it.
func TestMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var more atomic.Uint64 // than what was live
		var begun, returned atomic.Int32
		gate := make(chan struct{})
		c := &collector{
			look: func() (objects, live uint64) { return 2*large + more.Load(), 2 * large },
			collect: func() {
				begun.Add(1)
				<-gate
			},
		}
		check := func(what string, wantBegun, wantReturned int32) {
			t.Helper()
			synctest.Wait()
			if b, r := begun.Load(), returned.Load(); b != wantBegun || r != wantReturned {
				t.Errorf("%s: %d collections have begun, want %d; %d calls have returned, want %d",
					what, b, wantBegun, r, wantReturned)
			}
		}
		call := func() {
			go func() {
				c.made()
				returned.Add(1)
			}()
		}
		call()
		check("little", 0, 1)
		more.Store(rare + 1)
		call()
		call()
		check("more", 1, 3)
		more.Store(2*rare + 1)
		call()
		check("too much", 1, 3)
		gate <- struct{}{}
		check("the collection has ended", 1, 4)
		call()
		check("the next one", 2, 4)
		gate <- struct{}{}
		check("it has ended, too", 2, 5)
	})
}
