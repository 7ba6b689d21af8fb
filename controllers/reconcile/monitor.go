package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Soon is how soon a pass must be due for its loop not to be idle. Retries after a conflict or another short failure
// are sooner. A time of day that a controller waits for, and retries after repeated failures, are later.
const Soon = time.Second

// Monitor waits for the loops that run with a context of With. The zero value has none.
type Monitor struct {
	mu    sync.Mutex // guards what follows
	loops map[*probe]struct{}
	// grown is closed when a loop is added; nil if no one waits.
	grown chan struct{}
}

// probe is how a Monitor asks one loop, which closes the channel that it receives.
type probe struct {
	// feed asks the goroutine that follows to send all events that there are; loop asks the loop to become idle.
	feed, loop chan chan struct{}
	// done is closed when the loop has ended.
	done chan struct{}
	// asked are the unanswered questions to the goroutine that follows, which owns them.
	asked []chan struct{}
}

type (
	monitorKey struct{}
	probeKey   struct{}
)

// With returns a context for the loops that m waits for.
func (m *Monitor) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, monitorKey{}, m)
}

// Unmonitored returns a context for a loop that no monitor waits for, such as one that only renews what exists.
func Unmonitored(ctx context.Context) context.Context {
	return context.WithValue(ctx, monitorKey{}, (*Monitor)(nil))
}

// register adds a loop, which is asked by that channel, to the monitor of ctx, and returns the context for its Follow.
// Without a monitor the probe is never asked.
func register(ctx context.Context, loop chan chan struct{}) (_ context.Context, p *probe, end func()) {
	m, _ := ctx.Value(monitorKey{}).(*Monitor)
	if m == nil {
		return ctx, &probe{}, func() {}
	}
	p = &probe{feed: make(chan chan struct{}), loop: loop, done: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loops == nil {
		m.loops = map[*probe]struct{}{}
	}
	m.loops[p] = struct{}{}
	if m.grown != nil {
		close(m.grown)
		m.grown = nil
	}
	return context.WithValue(ctx, probeKey{}, p), p, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.loops, p)
		close(p.done)
	}
}

// Join is for a controller of one goroutine, without a Loop, which it adds to the monitor of ctx. The goroutine uses
// the FeedOf the returned context, and calls Sent when it has carried out what follows from the events. end removes
// it.
func Join(ctx context.Context) (_ context.Context, end func()) {
	ctx, _, end = register(ctx, nil)
	return ctx, end
}

// Await waits until so many loops run.
func (m *Monitor) Await(ctx context.Context, loops int) error {
	for {
		m.mu.Lock()
		if len(m.loops) >= loops {
			m.mu.Unlock()
			return nil
		}
		if m.grown == nil {
			m.grown = make(chan struct{})
		}
		grown := m.grown
		m.mu.Unlock()
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Idle waits until each loop in turn has observed every event that its Follow can read at the call, and has no pass
// that runs or is due Soon. A loop that was idle may have work again because of another one's writes.
func (m *Monitor) Idle(ctx context.Context) error {
	m.mu.Lock()
	loops := slices.Collect(maps.Keys(m.loops))
	m.mu.Unlock()
	for _, p := range loops {
		for _, to := range []chan chan struct{}{p.feed, p.loop} {
			if to == nil {
				continue
			}
			if err := p.ask(ctx, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks and waits for the answer, or for the end of the loop.
func (p *probe) ask(ctx context.Context, to chan chan struct{}) error {
	answer := make(chan struct{})
	select {
	case to <- answer:
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-answer:
	case <-p.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Feed is the part of a monitored loop's Follow, in the goroutine that calls its sink.
type Feed struct{ p *probe }

// FeedOf returns the feed of the loop whose Follow was called with ctx. Without a monitor it is never asked.
func FeedOf(ctx context.Context) Feed {
	p, _ := ctx.Value(probeKey{}).(*probe)
	return Feed{p}
}

// Asks receives a question, which Note must be given, when all events that can be read are to be sent.
func (f Feed) Asks() <-chan chan struct{} {
	if f.p == nil {
		return nil
	}
	return f.p.feed
}

// Note keeps a question until Sent, also if Follow is called again before.
func (f Feed) Note(answer chan struct{}) { f.p.asked = append(f.p.asked, answer) }

// IsAsked reports whether there is a question without an answer.
func (f Feed) IsAsked() bool { return f.p != nil && len(f.p.asked) > 0 }

// Sent answers all questions: all events that could be read after they came were sent.
func (f Feed) Sent() {
	for _, answer := range f.p.asked {
		close(answer)
	}
	f.p.asked = nil
}
