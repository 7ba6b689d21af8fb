package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Schedule decides which pass may begin when. E are its events, J is the subject of a pass, and R the result of one.
// One goroutine calls it, with the time as an argument.
type Schedule[E, J, R any] interface {
	// Observe processes an event.
	Observe(e E, now time.Time)
	// Begin returns a pass that begins now, and records it as active; ok is false if there is none.
	Begin(now time.Time) (job J, ok bool)
	// Wait returns the time until Begin has a pass; ok is false if only an event can cause one.
	Wait(now time.Time) (wait time.Duration, ok bool)
	// End records the result of a pass.
	End(job J, result R, now time.Time)
}

// Loop runs passes. All fields but Wall are required.
type Loop[E, J, R any] struct {
	Schedule Schedule[E, J, R]
	// Workers is the maximum number of concurrent passes.
	Workers int
	// Follow sends the present state and its changes to sink until ctx is done; see Follow.
	Follow func(ctx context.Context, sink func(E)) error
	// Pass carries out a pass. It is called from several goroutines.
	Pass func(ctx context.Context, job J) R
	// Log receives the failures of Follow; What names the watched objects in the message.
	Log  *slog.Logger
	What string
	// Wall is the wall clock; nil for time.Now. Only tests set it.
	Wall func() time.Time
}

// Waker is a Schedule whose waits depend on the wall clock.
type Waker interface {
	// Wake is called when the wall clock was set: keys that wait for a time of day need a pass.
	Wake(now time.Time)
}

// ended is the result of a pass.
type ended[J, R any] struct {
	job    J
	result R
}

// Run runs passes until ctx is done, and returns when all its goroutines have.
func (l *Loop[E, J, R]) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	following, p, end := register(ctx, make(chan chan struct{}))
	defer end()
	defer all.Wait()
	defer cancel()

	events := make(chan E, 256)
	results := make(chan ended[J, R], l.Workers) // space for all, so that no pass blocks at its end
	all.Go(func() {
		Follow(following, l.Log, l.What, l.Follow, func(e E) { Send(ctx, events, e) })
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	clock := newClock(l.Wall)
	var asked []chan struct{}
	for running := 0; ; {
		if w, ok := l.Schedule.(Waker); ok && clock.set(time.Now()) {
			w.Wake(time.Now())
		}
		for running < l.Workers {
			job, ok := l.Schedule.Begin(time.Now())
			if !ok {
				break
			}
			running++
			all.Go(func() { results <- ended[J, R]{job, l.Pass(ctx, job)} })
		}
		wait, ok := l.Schedule.Wait(time.Now())
		if ok && running < l.Workers {
			timer.Reset(min(wait, clockInterval))
		}
		if len(asked) > 0 && running == 0 && len(events) == 0 && (!ok || wait > Soon) {
			for _, answer := range asked {
				close(answer)
			}
			asked = nil
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			l.Schedule.Observe(e, time.Now())
		case r := <-results:
			running--
			l.Schedule.End(r.job, r.result, time.Now())
		case <-timer.C:
		case answer := <-p.loop:
			asked = append(asked, answer)
		}
	}
}

// following is the pause before a failed watch is restarted.
var following = Backoff{Min: 5 * time.Millisecond, Max: time.Minute}

// Follow calls follow again and again until ctx is done. The pause between calls grows while follow fails without
// having sent anything. follow must send the present state and then its changes, from one goroutine, until ctx is done;
// it returns early, with an error, if it can't continue.
func Follow[E any](
	ctx context.Context, log *slog.Logger, what string, follow func(context.Context, func(E)) error, sink func(E),
) {
	failures := 0
	for {
		err := follow(ctx, func(e E) {
			failures = 0
			sink(e)
		})
		if ctx.Err() != nil {
			return
		}
		failures++
		log.Warn("failed to watch "+what, "err", err)
		if !Sleep(ctx, following.After(failures)) {
			return
		}
	}
}

// Sleep waits; false means that ctx is done.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Send sends, unless ctx is done first.
func Send[T any](ctx context.Context, to chan<- T, v T) {
	select {
	case <-ctx.Done():
	case to <- v:
	}
}
