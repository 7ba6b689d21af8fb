package apiserver

import (
	"testing"
	"time"
)

func TestGathering(t *testing.T) {
	for watchers, want := range map[int64]time.Duration{1: 0, 24: 0, 100: 2 * time.Millisecond, 1 << 40: mostGathering} {
		if got := gathering(watchers); got != want {
			t.Errorf("of %d: %v", watchers, got)
		}
	}
}
