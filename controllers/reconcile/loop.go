package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Schedule says which pass may begin when. E are the events that it is told of, J is what a pass is over,
// and R how one ended. It is called by one goroutine, which tells it the time.
type Schedule[E, J, R any] interface {
	// Observe takes an event in.
	Observe(e E, now time.Time)
	// Begin returns a pass that is to begin now, and regards it as under way; ok is false if none is.
	Begin(now time.Time) (job J, ok bool)
	// Wait returns how long it takes until Begin has something; ok is false if only an event can bring
	// that about.
	Wait(now time.Time) (wait time.Duration, ok bool)
	// End says how a pass ended.
	End(job J, result R, now time.Time)
}

// Loop runs passes. All fields but Wall are needed.
type Loop[E, J, R any] struct {
	Schedule Schedule[E, J, R]
	// Workers is how many passes run at once.
	Workers int
	// Follow tells of what there is and of what happens until ctx is done; see Follow.
	Follow func(ctx context.Context, sink func(E)) error
	// Pass carries out a pass. It is called from several goroutines.
	Pass func(ctx context.Context, job J) R
	// Log is told what can't be followed; What says what that is, for it.
	Log  *slog.Logger
	What string
	// Wall is the wall clock; nil for time.Now. Only a test needs another.
	Wall func() time.Time
}

// Waker is a Schedule whose waits depend on the wall clock.
type Waker interface {
	// Wake is called when the wall clock was set: what waits for a time of day is to be looked at anew.
	Wake(now time.Time)
}

// ended is a pass that has ended.
type ended[J, R any] struct {
	job    J
	result R
}

// Run works until ctx is done, and returns when all its goroutines have.
func (l *Loop[E, J, R]) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()

	events := make(chan E, 256)
	results := make(chan ended[J, R], l.Workers) // room for all, so that no pass waits to say that it has ended
	all.Go(func() {
		Follow(ctx, l.Log, l.What, l.Follow, func(e E) { Send(ctx, events, e) })
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	clock := newClock(l.Wall)
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
		if wait, ok := l.Schedule.Wait(time.Now()); ok && running < l.Workers {
			timer.Reset(min(wait, clockInterval))
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
		}
	}
}

// following is the pause before following again after failures in a row.
var following = Backoff{Min: 5 * time.Millisecond, Max: time.Minute}

// Follow calls follow again and again until ctx is done, with a pause that grows while it fails without
// having told of anything. follow is to tell of what there is and then of what happens, from one
// goroutine, until ctx is done; it returns early, with an error, if it can't go on.
func Follow[E any](ctx context.Context, log *slog.Logger, what string, follow func(context.Context, func(E)) error, sink func(E)) {
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
