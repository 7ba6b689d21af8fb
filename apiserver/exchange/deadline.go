package exchange

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, as context.WithDeadline's does. It has a timer only once something waits
// for its end: most reads never do, and a timer costs some of them a twentieth of their time.
type deadline struct {
	context.Context
	at time.Time

	mu     sync.Mutex // guards what follows
	timed  context.Context
	cancel context.CancelFunc
	ended  bool
}

// WithTimeout is context.WithTimeout.
func WithTimeout(parent context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	d := &deadline{Context: parent, at: time.Now().Add(after)}
	return d, d.end
}

// end releases what the context holds. From then on its error is context.Canceled.
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

// Deadline is when it ends at the latest.
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

// Value is the parent's, or the armed context's, of which context.Cause and contexts that derive from it learn their
// cause.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed := d.timed
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
