package reconcile

import "context"

// probe passes a Monitor's questions to one loop.
type probe struct {
	// feed requests from the goroutine that follows that it sends all pending events. It closes the channel that it
	// receives when it has sent them.
	feed chan chan struct{}
	// loop has questions for the loop's goroutine.
	loop chan question
	// asked has the unanswered questions to the goroutine that follows, which owns this field.
	asked []chan struct{}
}

// question requests a loop's report.
type question struct {
	// idle reports whether the loop answers when it is idle, instead of at once.
	idle bool
	// most is the maximum number of entries.
	most int
	// answer has a buffer for the answer.
	answer chan Report
}

// register adds a loop to the monitor of ctx, and returns the context for its Follow. Without a monitor the probe is
// never asked.
func register(ctx context.Context) (following context.Context, p *probe, end func()) {
	if s, _ := ctx.Value(scopeKey{}).(scope); s.monitor == nil {
		return ctx, &probe{}, func() {}
	}
	p = &probe{feed: make(chan chan struct{}), loop: make(chan question)}
	return context.WithValue(ctx, probeKey{}, p), p, Join(ctx, p)
}

// Idle implements Part: the loop has observed every event that its Follow can read at the call, and has no pass that
// runs or is due Soon. The reader of the cache must have reached the revision.
func (p *probe) Idle(ctx context.Context, _ int64) (activity uint64, err error) {
	sent := make(chan struct{})
	select {
	case p.feed <- sent:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case <-sent:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	r, err := p.ask(ctx, question{idle: true})
	return r.Activity, err
}

// Report implements Part.
func (p *probe) Report(ctx context.Context, most int) (Report, error) {
	return p.ask(ctx, question{most: most})
}

func (p *probe) ask(ctx context.Context, q question) (Report, error) {
	q.answer = make(chan Report, 1)
	select {
	case p.loop <- q:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	select {
	case r := <-q.answer:
		return r, nil
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
}

// Feed is the part of a monitored loop's Follow, in the goroutine that calls its sink.
type Feed struct{ p *probe }

// FeedOf returns the feed of the loop whose Follow was called with ctx. Without a monitor it is never asked.
func FeedOf(ctx context.Context) Feed {
	p, _ := ctx.Value(probeKey{}).(*probe)
	return Feed{p}
}

// Asks receives a question when all events that can be read must be sent. Pass the question to Note.
func (f Feed) Asks() <-chan chan struct{} {
	if f.p == nil {
		return nil
	}
	return f.p.feed
}

// Note keeps a question until Sent, even if Follow is called again before.
func (f Feed) Note(answer chan struct{}) { f.p.asked = append(f.p.asked, answer) }

// IsAsked reports whether there is a question without an answer.
func (f Feed) IsAsked() bool { return f.p != nil && len(f.p.asked) > 0 }

// Sent answers all questions. Call it when all events that could be read after the questions came were sent.
func (f Feed) Sent() {
	for _, answer := range f.p.asked {
		close(answer)
	}
	f.p.asked = nil
}
