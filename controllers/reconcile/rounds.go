package reconcile

import (
	"context"
	"sync"
	"time"
)

// Changes reports whether there was a change to which a check of Rounds may respond with a write.
type Changes interface {
	// Reset forgets the changes before the call.
	Reset()
	// Seen reports whether there was a change since then. Both are called by one goroutine at a time.
	Seen() bool
}

// Rounds checks something at intervals, without following changes. It is a Part: while there is a change to which the
// next check may respond, it is not idle until that check. All fields but AtOnce and Object are required.
type Rounds struct {
	Interval time.Duration
	// AtOnce reports whether the first check is at the beginning.
	AtOnce  bool
	Check   func(context.Context) error
	Changes Changes
	// Object and Why describe the wait for the next check.
	Object Object
	Why    string
	// Failed is called with the error of a check.
	Failed func(error)

	active Backlog
	mu     sync.Mutex // guards the fields below, and calls of Changes
	next   time.Time
	err    error
}

// Run joins the monitor of ctx, and checks once in each interval until ctx is done. Unless AtOnce is set, the state at
// the call counts as checked.
func (r *Rounds) Run(ctx context.Context) {
	defer Join(ctx, r)()
	r.reset()
	if r.AtOnce {
		r.round(ctx)
	}
	for r.rest(ctx); Sleep(ctx, r.Interval); r.rest(ctx) {
		r.round(ctx)
	}
}

// rest records the time of the next check.
func (r *Rounds) rest(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = Now(ctx).Add(r.Interval)
}

// reset forgets the changes before a check.
func (r *Rounds) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Changes.Reset()
}

// round makes a check.
func (r *Rounds) round(ctx context.Context) {
	r.active.Begin()
	defer r.active.End()
	r.reset()
	err := r.Check(ctx)
	if err != nil && ctx.Err() == nil {
		r.Failed(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// Idle implements Part.
func (r *Rounds) Idle(ctx context.Context, revision int64) (activity uint64, err error) {
	return r.active.Idle(ctx, revision)
}

// Report implements Part.
func (r *Rounds) Report(ctx context.Context, most int) (Report, error) {
	out, err := r.active.Report(ctx, most)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.Changes.Seen() {
		out.Waits = append(out.Waits, Wait{Object: r.Object, Until: r.next, Why: r.Why, Err: r.err})
	}
	if len(out.Works) > 0 {
		out.Works[0] = Work{Object: r.Object, What: "a check"}
	}
	return out, err
}
