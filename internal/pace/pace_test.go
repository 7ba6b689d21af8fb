package pace

import (
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		name  string
		live  uint64
		since time.Duration
		want  int
	}{
		{"a small heap at work", 32 << 20, time.Millisecond, 200},
		{"a small heap at rest", 32 << 20, time.Minute, 100},
		{"a large heap at work", 1 << 30, time.Millisecond, 100},
		{"next to nothing", 0, 0, 1600},
	} {
		if got := percent(c.live, c.since); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}
