package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Reasons for which a key waits.
const (
	// AfterChange is the reason of a pass that follows an event.
	AfterChange = "a pass after a change"
	// AfterFailure is the reason of a pass that repeats a failed one.
	AfterFailure = "a retry after a failure"
)

// Loop runs passes. All fields but Wall are required.
type Loop[K comparable] struct {
	Keys *Keys[K]
	// Workers is the maximum number of concurrent passes.
	Workers int
	// Follow sends the present state and its changes to sink until ctx is done; see Follow.
	Follow func(ctx context.Context, sink func(K)) error
	// Pass carries out a pass. It is called from several goroutines.
	Pass func(ctx context.Context, key K) Outcome
	// About names the object of a pass for a Monitor.
	About func(key K) Object
	// Log receives the failures of Follow; What names the watched objects in the message.
	Log  *slog.Logger
	What string
	// Wall is the wall clock; nil means the clock of the context's Monitor. Only tests set it.
	Wall func() time.Time
}

// ended is the result of a pass.
type ended[K comparable] struct {
	key    K
	result Outcome
}

// running is a call of Run. Its fields belong to the goroutine of the call, except the channels.
type running[K comparable] struct {
	*Loop[K]
	clock   *Clock
	events  chan K
	results chan ended[K]
	// active has the keys of the passes that run.
	active map[K]struct{}
	// activity counts observed events, and beginnings and ends of passes.
	activity uint64
	// asked has the questions that wait until the loop is idle.
	asked []question
}

// Run runs passes until ctx is done, and returns when all its goroutines have.
func (l *Loop[K]) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	following, p, end := register(ctx)
	defer end()
	defer all.Wait()
	defer cancel()

	r := &running[K]{Loop: l, clock: clockOf(ctx), events: make(chan K, 256), active: map[K]struct{}{},
		results: make(chan ended[K], l.Workers)} // space for all, so that no pass blocks at its end
	all.Go(func() {
		Follow(following, l.Log, l.What, l.Follow, func(key K) {
			select {
			case r.events <- key:
			case <-ctx.Done():
			}
		})
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	wall := newDrift(r.wall())
	for {
		moved := r.clock.Moved()
		if wall.set(time.Now()) {
			l.Keys.Wake(r.clock.Now())
		}
		r.begin(ctx, &all)
		wait, ok := l.Keys.Wait(r.clock.Now())
		if ok && len(r.active) < l.Workers {
			timer.Reset(min(wait, clockInterval))
		}
		if len(r.active) == 0 && len(r.events) == 0 && (!ok || wait > Soon) {
			r.answer()
		}
		select {
		case <-ctx.Done():
			return
		case key := <-r.events:
			r.activity++
			l.Keys.Observe(key, r.clock.Now())
		case done := <-r.results:
			r.activity++
			l.Keys.End(done.key, done.result, r.clock.Now())
			delete(r.active, done.key)
		case <-timer.C:
		case <-moved:
		case q := <-p.loop:
			if q.idle {
				r.asked = append(r.asked, q)
			} else {
				q.answer <- r.report(q.most)
			}
		}
	}
}

func (r *running[K]) wall() func() time.Time {
	if r.Wall != nil {
		return r.Wall
	}
	return r.clock.Now
}

// begin starts passes that are due.
func (r *running[K]) begin(ctx context.Context, all *sync.WaitGroup) {
	for len(r.active) < r.Workers {
		key, ok := r.Keys.Begin(r.clock.Now())
		if !ok {
			return
		}
		r.activity++
		r.active[key] = struct{}{}
		all.Go(func() { r.results <- ended[K]{key, r.Pass(ctx, key)} })
	}
}

// answer answers the questions of an idle loop.
func (r *running[K]) answer() {
	for _, q := range r.asked {
		q.answer <- Report{Activity: r.activity}
	}
	r.asked = nil
}

func (r *running[K]) report(most int) Report {
	out := Report{Activity: r.activity, MoreWorks: max(0, len(r.active)-most)}
	for key := range r.active {
		if len(out.Works) == most {
			break
		}
		out.Works = append(out.Works, Work{Object: r.About(key), What: "a pass"})
	}
	if len(r.events) > 0 && len(out.Works) < most {
		out.Works = append(out.Works, Work{What: "taking in changes"})
	}
	out.Waits, out.MoreWaits = r.Keys.Waits(most, r.About)
	return out
}

// following is the pause before a failed watch is restarted.
var following = Backoff{Min: 5 * time.Millisecond, Max: time.Minute}

// Follow calls follow repeatedly until ctx is done. The pause between calls grows while follow fails before it has sent
// anything. follow must send the present state and then its changes, from one goroutine, until ctx is done; it returns
// early, with an error, if it can't continue.
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

// Sleep waits, by the clock of the context's Monitor; false means that ctx is done.
func Sleep(ctx context.Context, d time.Duration) bool {
	clock := clockOf(ctx)
	t := time.NewTimer(d)
	defer t.Stop()
	for end := clock.Now().Add(d); ; {
		moved := clock.Moved()
		t.Reset(end.Sub(clock.Now()))
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
			return true
		case <-moved:
		}
	}
}
