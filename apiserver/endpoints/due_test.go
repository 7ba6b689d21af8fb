package endpoints

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestBookmarksAreDueEachMinute: a watch sends a bookmark each minute, and two seconds before its end (H-28). A watch
// of two seconds or less sends none.
func TestBookmarksAreDueEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]time.Duration{
			time.Hour:         time.Minute,
			62 * time.Second:  time.Minute,
			61 * time.Second:  59 * time.Second,
			2*time.Second + 1: 1,
			2 * time.Second:   2 * time.Second,
			time.Second:       time.Second,
			0:                 0,
			1<<63 - 1:         time.Minute,
		} {
			if got := untilNext(time.Now().Add(left)); got != want {
				t.Errorf("%v before the end: %v, want %v", left, got, want)
			}
		}
	})
}
