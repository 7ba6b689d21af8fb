package reconcile

import (
	"context"
	"sync"
)

// Backlog is a Part that counts work which is done beside a Loop, such as writing Events. Its zero value has none.
type Backlog struct {
	// What describes the work, for Work.
	What string

	mu sync.Mutex // guards the fields below
	// begun counts all work, pending what has not ended.
	begun   uint64
	pending int
	// drained is closed when nothing is pending; nil if no one waits.
	drained chan struct{}
}

// Begin counts a piece of work, which may wait in a queue.
func (b *Backlog) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun++
	b.pending++
}

// End records that a piece of work has ended.
func (b *Backlog) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending--; b.pending == 0 && b.drained != nil {
		close(b.drained)
		b.drained = nil
	}
}

// Idle implements Part.
func (b *Backlog) Idle(ctx context.Context, _ int64) (activity uint64, err error) {
	for {
		activity, drained := b.look()
		if drained == nil {
			return activity, nil
		}
		select {
		case <-drained:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// look returns the activity, and a channel that is closed when nothing is pending; nil if nothing is.
func (b *Backlog) look() (activity uint64, drained <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending == 0 {
		return b.begun, nil
	}
	if b.drained == nil {
		b.drained = make(chan struct{})
	}
	return b.begun, b.drained
}

// Report implements Part.
func (b *Backlog) Report(context.Context, int) (Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Report{Activity: b.begun}
	if b.pending > 0 {
		r.Works = []Work{{What: b.What}}
	}
	return r, nil
}
