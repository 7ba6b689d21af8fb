package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Attacker is the attacker's process.
type Attacker struct {
	*Target

	mu sync.Mutex // guards the fields below
	// answers counts codes; 0 is a request without an answer.
	answers map[int]int
	// lacking is how many answers must still come, and enough is closed when there are none.
	lacking int
	enough  chan struct{}
}

// order is what the observer's process tells the attacker's.
type order struct {
	Title  string
	Target Target
	For    time.Duration
}

// report is what the attacker's process answers.
type report struct {
	Answers map[int]int
	Err     string
}

// Join is the attacker's process: it reads what to do, does it and reports.
func Join(ctx context.Context, in io.Reader, out io.Writer) error {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("decoding the order: %w", err)
	}
	attack := Find(o.Title)
	if attack == nil {
		return fmt.Errorf("no attack is named %q", o.Title)
	}
	a := &Attacker{Target: &o.Target, answers: map[int]int{}, lacking: attack.Answers, enough: make(chan struct{})}
	if a.lacking == 0 {
		close(a.enough)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		a.last(ctx, o.For, attack.Whole)
		cancel()
	}()
	r := report{}
	if err := attack.Run(ctx, a); err != nil && (attack.Whole || ctx.Err() == nil) {
		r.Err = err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Answers = a.answers; a.lacking > 0 && r.Err == "" {
		r.Err = fmt.Sprintf("only %d of %d answers came", attack.Answers-a.lacking, attack.Answers)
	}
	return json.NewEncoder(out).Encode(r)
}

// last returns when the attack has gone on for d and as many answers as it needs have come, or when they come no more.
// A whole attack is waited for as long as that.
func (a *Attacker) last(ctx context.Context, d time.Duration, whole bool) {
	if !pause(ctx, d) {
		return
	}
	enough := a.enough
	if whole {
		enough = nil
	}
	select {
	case <-enough:
	case <-ctx.Done():
	case <-time.After(patience + 10*time.Second): // the server's own limit is 34 seconds
	}
}

// count notes an answer, or that there was none. What was cut off by the end of the attack isn't noted.
func (a *Attacker) count(ctx context.Context, code int, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[code]++
	if code == 0 || a.lacking == 0 {
		return
	}
	if a.lacking--; a.lacking == 0 {
		close(a.enough)
	}
}

// flood has n clients send requests, each on a connection of its own and one request after the other, until ctx ends.
// next is told the client's number and how many requests it has sent before.
func (a *Attacker) flood(ctx context.Context, user string, n int, next func(client, turn int) Request) {
	c := a.client(user, false)
	defer c.close()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				answer, err := c.send(ctx, next(i, turn))
				a.count(ctx, answer.Code, err)
				if err != nil && !pause(ctx, 50*time.Millisecond) { // the server may be gone
					return
				}
			}
		})
	}
	all.Wait()
}

// again is a flood of one request.
func again(n int, user string, make func() Request) func(context.Context, *Attacker) error {
	return func(ctx context.Context, a *Attacker) error {
		r := make()
		a.flood(ctx, user, n, func(int, int) Request { return r })
		return nil
	}
}

// pause reports whether ctx still goes on after d.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
