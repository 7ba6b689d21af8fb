package endpoints

import (
	"testing"
	"time"
)

func TestGathering(t *testing.T) {
	for watchers, want := range map[int64]time.Duration{1: 0, 12: 0, 100: 4 * time.Millisecond, 1 << 40: mostBatch} {
		if got := batchTime(watchers); got != want {
			t.Errorf("of %d: %v", watchers, got)
		}
	}
}

func TestCrowds(t *testing.T) {
	c := &watchCounts{}
	n, leave := c.join("pods")
	same, leaveToo := c.join("pods")
	if other, _ := c.join("nodes"); n != same || n.Load() != 2 || other.Load() != 1 {
		t.Errorf("%d and %d watch pods, %d nodes", n.Load(), same.Load(), other.Load())
	}
	leave()
	leaveToo()
	if n.Load() != 0 || len(c.counts) != 1 {
		t.Errorf("%d are left, and %d collections", n.Load(), len(c.counts))
	}
}
