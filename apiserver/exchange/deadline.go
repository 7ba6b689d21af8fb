package exchange

import (
	"context"
	"sync"
	"time"
)

// deadline is a context with a deadline, as of context.WithDeadline. It starts its timer only when something waits for
// its end: most reads never do, and a timer costs some of them 5 % of their time.
type deadline struct {
	context.Context
	at time.Time

	mu     sync.Mutex // guards what follows
	timed  context.Context
	cancel context.CancelFunc
	ended  bool
}

// WithTimeout does what context.WithTimeout does.
func WithTimeout(parent context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	d := &deadline{Context: parent, at: time.Now().Add(after)}
	return d, d.end
}

// end releases the context's resources. After it the error is context.Canceled.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.cancel != nil {
		d.cancel()
	}
}

// arm returns the context with the timer.
func (d *deadline) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
		if d.ended {
			d.cancel()
		}
	}
	return d.timed
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done starts the timer.
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err is nil until the context ends.
func (d *deadline) Err() error {
	d.mu.Lock()
	unarmed := d.timed == nil && !d.ended
	d.mu.Unlock()
	if unarmed && time.Now().Before(d.at) {
		return d.Context.Err()
	}
	return d.arm().Err()
}

// Value returns the value of the parent or, after arm, of the armed context, from which context.Cause and derived
// contexts get their cause.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed := d.timed
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
