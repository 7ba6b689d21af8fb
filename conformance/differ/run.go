package differ

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

// Config has the options of a comparison. Zero fields mean the default.
type Config struct {
	// Reference and Candidate are the servers.
	Reference, Candidate drive.Server
	// Prefix is the prefix of names on the servers. Each run needs a different one.
	Prefix string
	// BuiltIn omits custom resources.
	BuiltIn bool
	// Settle is the maximum duration of a cascade (default: 5 s). If both servers do what the model expects, no such
	// time passes.
	Settle time.Duration
	// Progress is called often, with a line about the progress; nil is valid.
	Progress func(string)
}

func (c *Config) kinds() []model.Kind {
	if c.BuiltIn {
		return model.BuiltIn()
	}
	return model.Kinds
}

func (c *Config) tell(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// Difference is a difference between the servers.
type Difference struct {
	// Sent is the number of operations that were sent. The last one shows the difference.
	Sent int
	// What names the value that differs. Reference and Candidate are the values on the servers.
	What                 string
	Reference, Candidate string
	// about is the kind of the difference. A shorter list must show one of the same kind.
	about string
}

// String returns a report.
func (d *Difference) String() string {
	return fmt.Sprintf("%s\n--- reference\n%s\n--- candidate\n%s\n", d.What, d.Reference, d.Candidate)
}

// side is one of the servers.
type side struct {
	session *drive.Session
	answer  drive.Answer
	// base is the state before the last operation, and state the state after the events, whose order may vary.
	base, state model.State
	events      []model.Event
	more        <-chan struct{}
	// whole reports whether all events of earlier operations have arrived.
	whole bool
	// idle reports whether a sentinel was not collected. Then no more sentinels are created.
	idle bool
	// sentinels is the number of sentinels.
	sentinels int
}

// Run sends the operations to both servers and returns the first difference, or nil if there is none. The error is an
// error of the run itself. If a server does not collect objects of custom kinds, Run sets its field Idle in c.
func Run(ctx context.Context, c *Config, ops []model.Op) (*Difference, error) {
	if c.Settle == 0 {
		c.Settle = 5 * time.Second
	}
	var sides [2]*side
	for i, on := range []*drive.Server{&c.Reference, &c.Candidate} {
		s, err := drive.Open(ctx, *on, c.Prefix, model.Needed(ops))
		if err != nil {
			return nil, err
		}
		defer s.Close()
		on.Idle = s.Idle
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
		next, _, sent := model.Apply(expected, sides[0].session.Bind(op).Resolve(expected))
		next, collected := model.Settle(next, model.First)
		want := historiesOf(expected, slices.Concat(sent, collected))
		last := n == len(ops)-1 || (n+1)%sentinelEvery == 0
		d, err := settle(ctx, c, sides, op, want, last)
		if d != nil || err != nil {
			if d != nil {
				d.Sent = n + 1
			}
			return d, err
		}
		expected = sides[0].rest(next)
		sides[1].rest(expected)
		c.tell("%d of %d operations are the same", n+1, len(ops))
	}
	return nil, nil
}

var names = [...]string{"reference", "candidate"}

// both calls f for both sides at the same time. An error names the side.
func both(f func(i int) error) error {
	var running sync.WaitGroup
	var errs [2]error
	for i := range errs {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}

// send sends an operation to both servers.
func send(ctx context.Context, sides [2]*side, op model.Op) error {
	return both(func(i int) (err error) {
		s := sides[i]
		s.answer, err = s.session.Send(ctx, s.session.Bind(op.Resolve(s.state)))
		return err
	})
}

// settle waits until both servers have shown all changes of the objects that the model expects, or until Settle has
// passed. The final state alone is not enough: it may equal the state before, if an object with an absent owner was
// created and collected. With a sentinel, settle then gives a collector the time to show an error before the servers
// are compared.
func settle(
	ctx context.Context, c *Config, sides [2]*side, op model.Op, want histories, sentinel bool,
) (*Difference, error) {
	timeout := time.NewTimer(c.Settle)
	defer timeout.Stop()
	var quiet <-chan time.Time
	shown := false
	for {
		for _, s := range sides {
			if err := s.follow(); err != nil {
				return nil, err
			}
		}
		d := compareHistories(sides, op)
		if d == nil && sides[0].histories().same(want) {
			if !sentinel {
				return nil, nil
			}
			if !shown {
				// When both collectors have collected a sentinel, they have processed all events so far.
				if err := both(func(i int) error { return sides[i].sentinel(ctx, c.Settle) }); err != nil {
					return nil, err
				}
				shown, quiet = true, time.After(wholeFor)
				continue
			}
			if sides[0].whole && sides[1].whole {
				return nil, nil
			}
		}
		select {
		case <-sides[0].more:
		case <-sides[1].more:
		case <-quiet: // other clients write objects that are not watched
			sentinel = false
		case <-timeout.C:
			return d, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// follow updates the side's state from the events of its watches.
func (s *side) follow() error {
	t, err := s.session.Timeline()
	if err != nil {
		return err
	}
	s.events, s.more, s.whole = t.Events, t.More, t.Whole
	s.state = s.base.After(t.Events)
	return nil
}

// anyVersion is the version of all objects in the final state, because versions differ between servers. It differs from
// none and from model.Stale's.
const anyVersion = 2

// rest takes the events, and returns the state with anyVersion and with the fields of pods that only the model has.
func (s *side) rest(expected model.State) model.State {
	s.session.Take(len(s.events))
	s.base = s.state
	at := model.State{}
	for k, o := range s.state {
		o.Version, o.Bound, o.Period = anyVersion, expected[k].Bound, expected[k].Period
		at[k] = o
	}
	return at
}

// histories are the changes of each object, as strings.
type histories map[model.Key][]string

// historiesOf returns the changes after base. It omits events of objects that other controllers write, such as the
// status of a ReplicaSet, if the event changes no field that the model has.
func historiesOf(base model.State, events []model.Event) histories {
	h, last := histories{}, maps.Clone(base)
	for _, e := range events {
		k := e.Object.Key
		if was, ok := last[k]; ok && e.Type == model.Modified && model.KindOf(k.Kind).Generation && was.Same(e.Object) {
			continue
		}
		last[k] = e.Object
		e.Object.Bound, e.Object.Period = false, 0 // only the model has them: watches show no node and no spec
		h[k] = append(h[k], e.String())
	}
	return h
}

func (h histories) same(g histories) bool { return maps.EqualFunc(h, g, slices.Equal) }

func (s *side) histories() histories { return historiesOf(s.base, s.events) }

// compareHistories compares the changes of the objects since the last operation.
func compareHistories(sides [2]*side, op model.Op) *Difference {
	h := [2]histories{sides[0].histories(), sides[1].histories()}
	keys := slices.Concat(slices.Collect(maps.Keys(h[0])), slices.Collect(maps.Keys(h[1])))
	slices.SortFunc(keys, model.Key.Compare)
	for _, k := range keys {
		a, b := strings.Join(h[0][k], "\n"), strings.Join(h[1][k], "\n")
		if a != b {
			return &Difference{What: fmt.Sprintf("after %s the watch events of %s differ", op, k), Reference: a, Candidate: b,
				about: "events " + k.Kind}
		}
	}
	return nil
}

// sentinelEvery is the number of operations between sentinels.
const sentinelEvery = 50

// wholeFor is the time to wait, after a sentinel is collected, for earlier events.
const wholeFor = 300 * time.Millisecond

// sentinel creates an object whose owner is absent, and waits until it is collected. If it is not collected in time,
// the server has no collector to wait for.
func (s *side) sentinel(ctx context.Context, patience time.Duration) error {
	if s.idle {
		return nil
	}
	s.sentinels++
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	collected, err := s.session.Sentinel(timed, s.sentinels)
	s.idle = !collected
	if err == nil || timed.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("sentinel: %w", err)
}
