package exchange

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadline: what can be seen of it is what can be seen of context.WithTimeout's.
func TestDeadline(t *testing.T) {
	gone := errors.New("the client is gone")
	type key struct{}
	for _, c := range []struct {
		name string
		// early asks for the end before it comes.
		early bool
		end   func(end, parent func())
	}{
		{"time", false, func(_, _ func()) { time.Sleep(time.Minute) }},
		{"time, awaited", true, func(_, _ func()) { time.Sleep(time.Minute) }},
		{"ended", false, func(end, _ func()) { end() }},
		{"ended, awaited", true, func(end, _ func()) { end() }},
		{"the parent's end", false, func(_, parent func()) { parent() }},
		{"the parent's end, awaited", true, func(_, parent func()) { parent() }},
		{"ended late", false, func(end, parent func()) { parent(); end(); time.Sleep(time.Minute) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, 7))
				defer cancel(nil)
				twin, endTwin := context.WithTimeout(parent, time.Minute)
				defer endTwin()
				ctx, end := WithTimeout(parent, time.Minute)
				defer end()
				at, _ := ctx.Deadline()
				if want, _ := twin.Deadline(); !at.Equal(want) || ctx.Err() != nil || ctx.Value(key{}) != 7 ||
					context.Cause(ctx) != nil {
					t.Error(at, ctx.Err(), ctx.Value(key{}), context.Cause(ctx))
				}
				derived, stop := context.WithCancel(context.WithoutCancel(ctx))
				if c.early {
					derived, stop = context.WithCancel(ctx)
					select {
					case <-ctx.Done():
						t.Error("it ends at once")
					default:
					}
				}
				defer stop()
				c.end(func() { end(); endTwin() }, func() { cancel(gone) })
				synctest.Wait()
				if ctx.Err() != twin.Err() {
					t.Errorf("%v, want %v", ctx.Err(), twin.Err())
				}
				<-ctx.Done()
				if got, want := context.Cause(ctx), context.Cause(twin); got != want {
					t.Errorf("cause %v, want %v", got, want)
				}
				if c.early && (derived.Err() != twin.Err() || context.Cause(derived) != context.Cause(twin)) {
					t.Errorf("derived: %v, %v", derived.Err(), context.Cause(derived))
				}
			})
		})
	}
}
