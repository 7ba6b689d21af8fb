package differ

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

// Config says what to compare. Zero fields mean the default.
type Config struct {
	// Reference and Candidate are the servers' URLs.
	Reference, Candidate string
	Client               *http.Client
	// Prefix of the names on the servers; each run needs another.
	Prefix string
	// Settle is how long cascades may take (default: 5 s). Where both servers do what the
	// model expects nothing waits.
	Settle time.Duration
}

// Difference is where the servers differ.
type Difference struct {
	// Sent is the number of operations that were sent, the last of which shows the difference.
	Sent int
	// What differs, and how it is on each of them.
	What                 string
	Reference, Candidate string
}

// String is a report.
func (d *Difference) String() string {
	return fmt.Sprintf("%s\n--- reference\n%s\n--- candidate\n%s\n", d.What, d.Reference, d.Candidate)
}

// side is one of the servers.
type side struct {
	session *drive.Session
	answer  drive.Answer
	// base is the state before the last operation, and state is it after the events, which may come in another order.
	base, state model.State
	events      []model.Event
	more        <-chan struct{}
}

// Run sends the operations to both servers and returns the first difference, nil if there is none.
// The error is of the run itself.
func Run(ctx context.Context, c Config, ops []model.Op) (*Difference, error) {
	if c.Settle == 0 {
		c.Settle = 5 * time.Second
	}
	var sides [2]*side
	for i, url := range []string{c.Reference, c.Candidate} {
		s, err := drive.Open(ctx, url, c.Prefix, c.Client)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		sides[i] = &side{session: s, base: model.State{}, state: model.State{}}
	}
	expected := model.State{}
	for n, op := range ops {
		if err := send(ctx, sides, op); err != nil {
			return nil, err
		}
		if d := compareAnswers(sides, op); d != nil {
			d.Sent = n + 1
			return d, nil
		}
		next, _, _ := model.Apply(expected, sides[0].session.Bind(op).Resolve(expected))
		expected, _ = model.Settle(next, model.First)
		d, err := settle(ctx, c, sides, op, expected)
		if d != nil || err != nil {
			if d != nil {
				d.Sent = n + 1
			}
			return d, err
		}
		expected = sides[0].rest(expected)
		sides[1].rest(expected)
	}
	return nil, nil
}

// send sends an operation to both at the same time.
func send(ctx context.Context, sides [2]*side, op model.Op) error {
	var wg sync.WaitGroup
	var errs [2]error
	for i, s := range sides {
		wg.Go(func() {
			s.answer, errs[i] = s.session.Send(ctx, s.session.Bind(op.Resolve(s.state)))
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", [...]string{"reference", "candidate"}[i], err)
		}
	}
	return nil
}

// settle waits until both servers are where the model is and have shown the same, or for Settle.
func settle(ctx context.Context, c Config, sides [2]*side, op model.Op, expected model.State) (*Difference, error) {
	timeout := time.NewTimer(c.Settle)
	defer timeout.Stop()
	for {
		for _, s := range sides {
			if err := s.follow(); err != nil {
				return nil, err
			}
		}
		d := compareHistories(sides, op)
		if d == nil && sides[0].state.Same(expected) && sides[1].state.Same(expected) {
			return nil, nil
		}
		select {
		case <-sides[0].more:
		case <-sides[1].more:
		case <-timeout.C:
			return d, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// follow brings the side's state to what its watches have shown.
func (s *side) follow() error {
	t, err := s.session.Timeline()
	if err != nil {
		return err
	}
	s.events, s.more = t.Events, t.More
	s.state = s.base.After(t.Events)
	return nil
}

// rest takes the events and returns the state without versions, and with what only the model knows of pods.
func (s *side) rest(expected model.State) model.State {
	s.session.Take(len(s.events))
	s.base = s.state
	at := model.State{}
	for k, o := range s.state {
		o.Version, o.Bound, o.Period = 0, expected[k].Bound, expected[k].Period
		at[k] = o
	}
	return at
}

// compareHistories compares what the objects have gone through since the last operation.
func compareHistories(sides [2]*side, op model.Op) *Difference {
	h := [2]map[model.Key][]string{{}, {}}
	for i, s := range sides {
		for _, e := range s.events {
			h[i][e.Object.Key] = append(h[i][e.Object.Key], e.String())
		}
	}
	keys := model.State{}
	for i := range h {
		for k := range h[i] {
			keys[k] = model.Object{}
		}
	}
	for _, k := range keys.Keys() {
		a, b := strings.Join(h[0][k], "\n"), strings.Join(h[1][k], "\n")
		if a != b {
			return &Difference{What: fmt.Sprintf("after %s the watch events of %s differ", op, k), Reference: a, Candidate: b}
		}
	}
	return nil
}
