package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleWaitsForEventsAndPasses: Idle returns when the events that there are have been observed and the passes that
// follow have ended, also those that are due soon, but not those that are due later.
func TestIdleWaitsForEventsAndPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Monitor
		ctx, cancel := context.WithCancel(m.With(t.Context()))
		source := make(chan string, 1)
		passes := 0
		loop := Loop[string]{
			Keys: NewKeys(Backoff{Min: 100 * time.Millisecond, Max: time.Hour}, strings.Compare), Workers: 1,
			About: func(string) Object { return Object{} },
			Follow: func(ctx context.Context, sink func(string)) error {
				feed := FeedOf(ctx)
				for {
					select {
					case key := <-source:
						sink(key)
					case answer := <-feed.Asks():
						feed.Note(answer)
						for len(source) > 0 {
							sink(<-source)
						}
						feed.Sent()
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			},
			Pass: func(context.Context, string) Outcome {
				time.Sleep(10 * time.Second)
				switch passes++; passes {
				case 1:
					return Outcome{Err: errors.New("again")} // soon
				default:
					return Outcome{Again: time.Hour, Why: "an hour"}
				}
			},
			Log: slog.New(slog.DiscardHandler), What: "test",
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			loop.Run(ctx)
		}()
		if err := m.Await(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		source <- "key"
		marks, err := m.Idle(t.Context(), 0)
		if err != nil || passes != 2 {
			t.Errorf("idle after %d passes: %v", passes, err)
		}
		waits, quiet, err := m.Quiet(t.Context(), marks, 10)
		if err != nil || !quiet || len(waits.Items) != 1 || waits.Items[0].Why != "an hour" {
			t.Errorf("quiet: %v, %v, %v", quiet, waits, err)
		}
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		source <- "key"
		marks, err = m.Idle(short, 0)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("during a pass: %v", err)
		}
		if works, _ := m.Report(t.Context(), marks, 10); len(works.Items) != 1 || works.Items[0].What != "a pass" {
			t.Errorf("during a pass: %v", works)
		}
		if err := m.Await(short, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for another loop: %v", err)
		}
		cancel()
		<-ended
		if marks, err := m.Idle(t.Context(), 0); err != nil || len(marks.activity) > 0 {
			t.Errorf("without loops: %v, %v", marks, err)
		}
	})
}
