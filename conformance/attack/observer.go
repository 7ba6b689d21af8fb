package attack

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// every is how often the other user sends a request.
	every = 20 * time.Millisecond
	// lost is when a request counts as failed.
	lost = 30 * time.Second
	// mostUnanswered is how many requests the other user has in flight; more are counted as failed without being sent.
	mostUnanswered = 512
)

// observer sends the other user's requests.
type observer struct {
	client *Client
	places chan struct{}
	flying sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	seen  Seen
	times []time.Duration
}

// observe sends the other user's requests until ctx ends, and returns what it saw. A request is sent when its time has
// come, whether those before are answered or not, so slow answers can't hide others.
func observe(ctx context.Context, t *Target) Seen {
	o := &observer{client: t.client(other, true), places: make(chan struct{}, mostUnanswered)}
	defer o.client.close()
	_, _ = o.client.send(ctx, Request{Method: "GET", Path: ordinary}) // a connection; what fails will fail again
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case o.places <- struct{}{}:
			o.flying.Go(func() {
				o.get()
				<-o.places
			})
		default:
			o.note(lost, 0, fmt.Errorf("%d requests aren't answered", mostUnanswered))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	o.flying.Wait()
	o.seen.P99 = percentile(o.times, 0.99)
	return o.seen
}

// get sends one request. It may outlive the attack: that it takes long is the attack's effect.
func (o *observer) get() {
	ctx, cancel := context.WithTimeout(context.Background(), lost)
	defer cancel()
	began := time.Now()
	a, err := o.client.send(ctx, Request{Method: "GET", Path: ordinary})
	o.note(time.Since(began), a.Code, err)
}

func (o *observer) note(took time.Duration, code int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Requests++
	o.times = append(o.times, took)
	switch {
	case err != nil:
		o.seen.Failed++
		o.seen.Failure = err.Error()
	case code == http.StatusTooManyRequests:
		o.seen.Rejected++
	case code != http.StatusOK:
		o.seen.Failed++
		o.seen.Failure = fmt.Sprint(code)
	}
}
