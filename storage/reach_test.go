package storage

import (
	"context"
	"testing"
	"time"
)

// slow is a context that has not noticed yet that its deadline has passed.
type slow struct{ context.Context }

func (slow) Deadline() (time.Time, bool) { return time.Now().Add(-time.Nanosecond), true }

// TestOver: an attempt that the deadline has cut off does not hide the reason of the one before.
func TestOver(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for ctx, want := range map[context.Context]bool{
		t.Context(): false, later: false, ended: true, slow{t.Context()}: true,
	} {
		if over(ctx) != want {
			t.Errorf("%v: %v", ctx, !want)
		}
	}
}
