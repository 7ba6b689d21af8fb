package starttime

import (
	"testing"
	"time"
)

// TestPlausibleStart: a start is used unless the clock was changed since the process began.
func TestPlausibleStart(t *testing.T) {
	now := time.Now()
	for start, want := range map[time.Duration]time.Duration{
		0: 0, -time.Second: -time.Second, -time.Minute: 0, time.Millisecond: 0, -365 * 24 * time.Hour: 0,
	} {
		wall := now.Add(start).Round(0) // as the system has it: without a monotonic clock
		if got := plausibleStart(now, wall).Sub(now); got != want {
			t.Errorf("%v: %v, want %v", start, got, want)
		}
	}
}
