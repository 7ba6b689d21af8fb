package pace

import (
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		name  string
		live  uint64
		since since
		want  int
	}{
		{"a small heap at work", 32 << 20, since{time.Second, 32 << 20}, 200},
		{"a small heap at work, with the pace of a burst", 8 << 20, since{10 * time.Second, 64 << 20}, 800},
		{"a small heap at rest", 32 << 20, since{time.Minute, 64 << 20}, 100},
		{"a heap at work, no longer small", 128 << 20, since{time.Second, 1 << 30}, 100},
		{"a large heap at work", 200 << 20, since{time.Second, 1 << 30}, 64},
		{"a large heap at rest", 200 << 20, since{time.Minute, 1 << 20}, 64},
		{"a very large heap at work", 1 << 30, since{time.Second, 1 << 30}, 50},
		{"next to nothing", 0, since{}, 1600},
		{"next to nothing at rest", 0, since{time.Minute, 64 << 20}, 100},
	} {
		if got := percent(c.live, c.since); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}
