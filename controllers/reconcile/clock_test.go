package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeysGetAPassAfterClockIsSet: a key waits for a time of day. When the wall clock is set, in either direction, the
// key gets a pass within a minute, and not before. A key that failed waits for its back-off.
func TestKeysGetAPassAfterClockIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shift, waiting, failing atomic.Int64
		loop := Loop[string]{
			Keys: NewKeys(Backoff{10 * time.Hour, 10 * time.Hour}, strings.Compare), Workers: 2,
			Log: slog.New(slog.DiscardHandler), What: "nothing",
			Wall: func() time.Time { return time.Now().Round(0).Add(time.Duration(shift.Load())) },
			Follow: func(ctx context.Context, sink func(string)) error {
				sink("waiting")
				sink("failing")
				<-ctx.Done()
				return ctx.Err()
			},
			Pass: func(_ context.Context, key string) Outcome {
				if key == "failing" {
					failing.Add(1)
					return Outcome{Err: errors.New("failed")}
				}
				waiting.Add(1)
				return Outcome{Again: 10 * time.Hour}
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			loop.Run(ctx)
		}()
		want := func(what string, n int64) {
			t.Helper()
			synctest.Wait()
			if waiting.Load() != n || failing.Load() != 1 {
				t.Errorf("%s: %d passes, want %d, and %d failed ones", what, waiting.Load(), n, failing.Load())
			}
		}
		time.Sleep(30 * time.Minute)
		want("at first", 1)
		shift.Store(int64(3 * time.Hour))
		time.Sleep(time.Minute)
		want("set forward", 2)
		time.Sleep(30 * time.Minute)
		want("later", 2)
		shift.Store(-int64(3 * time.Hour))
		time.Sleep(time.Minute)
		want("set back", 3)
		shift.Add(int64(time.Second / 2))
		time.Sleep(30 * time.Minute)
		want("adjusted", 3)
		cancel()
		<-done
	})
}
