package meta

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

// failure is a difference between the server and the model.
type failure struct {
	// sent is the number of operations that had been sent.
	sent int
	err  error
}

// Error describes the difference.
func (f *failure) Error() string { return "the server differs from the model: " + f.err.Error() }

// config has the options of a run. Zero fields mean the default.
type config struct {
	url    string
	client *http.Client
	// prefix is the prefix of names on the server. Each run needs another.
	prefix string
	// patience is the maximum time to wait for events (default: 10 s). A run that passes doesn't wait as long.
	patience time.Duration
	// size is the number of operations that are sent together, by clients (default: one by one).
	size, clients int
}

type runner struct {
	config
	session *drive.Session
	// past are the last states of the model. In the last one the collector is idle.
	past []model.State
	// ops and batches are the numbers of operations and batches that were sent.
	ops, batches int
}

// run sends the operations and compares. An error that is not a *failure is an error of the run itself.
func run(ctx context.Context, c config, ops []model.Op) error {
	if c.patience == 0 {
		c.patience = 10 * time.Second
	}
	c.size, c.clients = max(c.size, 1), max(c.clients, 1)
	s, err := drive.Open(ctx, drive.Server{URL: c.url, Client: c.client}, c.prefix, model.Needed(ops))
	if err != nil {
		return err
	}
	defer s.Close()
	r := &runner{config: c, session: s, past: []model.State{{}}}
	for len(ops) > 0 {
		n := min(c.size, len(ops))
		r.ops += n
		if err := r.batch(ctx, ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
		if r.batches++; r.batches%sentinelEvery == 0 || len(ops) == 0 {
			if err := r.sentinel(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch sends operations and follows the server until the model is idle.
func (r *runner) batch(ctx context.Context, ops []model.Op) error {
	calls, err := r.send(ctx, ops)
	if err != nil {
		return err
	}
	timeout := time.NewTimer(r.patience)
	defer timeout.Stop()
	var quiet <-chan time.Time
	listed := model.State{}
	for {
		t, err := r.session.Timeline()
		if err != nil {
			return err
		}
		states, err := model.Explain(r.past, calls(t.Events), t.Events)
		switch {
		case err == nil && t.Whole && (r.size == 1 || !collects(ops)):
			return r.advance(states, t)
		case err == nil && t.Whole: // a collection may have skipped a new item, or its event may follow
			if listed, err = r.session.List(ctx); err != nil {
				return err
			}
			if listed.Same(last(r.past, states)) {
				return r.advance(states, t)
			}
		case err == nil && quiet == nil:
			quiet = time.After(r.patience / 50)
		case err != nil:
			quiet = nil
		}
		select {
		case <-t.More:
		case <-quiet: // other clients' writes hide whether events follow, so a list decides
			latest := r.session.Latest()
			if listed, err = r.session.List(ctx); err != nil {
				return err
			}
			if listed.Same(last(r.past, states)) {
				r.session.Pass(latest)
				return r.advance(states, t)
			}
			quiet = nil
		case <-timeout.C:
			if err == nil {
				err = fmt.Errorf("the server lists\n%s\nand not\n%s", text(listed), text(last(r.past, states)))
			}
			return &failure{sent: r.ops, err: fmt.Errorf("%w\n%s", err, r.report(calls(t.Events), t.Events))}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// collects reports whether a collection is among the operations.
func collects(ops []model.Op) bool {
	return slices.ContainsFunc(ops, func(o model.Op) bool { return o.Verb == model.Collection })
}

// last returns the newest state.
func last(past, next []model.State) model.State {
	if len(next) > 0 {
		return next[len(next)-1]
	}
	return past[len(past)-1]
}

// lag is the number of past states in which the collector may have made the decisions that it executes now. It also
// applies to operations that are sent one by one: a step that was due during a cascade may be executed later, even if
// it is not due at the end.
const lag = 32

func (r *runner) advance(states []model.State, t drive.Timeline) error {
	r.session.Take(len(t.Events))
	r.past = append(r.past, states...)
	r.past = slices.Clone(r.past[max(0, len(r.past)-lag):])
	return nil
}

func (r *runner) state() model.State { return r.past[len(r.past)-1] }

// send sends operations, and returns a function that returns the calls when the events are known.
func (r *runner) send(ctx context.Context, ops []model.Op) (func([]model.Event) []model.Call, error) {
	calls, since, errs := make([]model.Call, len(ops)), make([]int64, len(ops)), make([]error, len(ops))
	var clients sync.WaitGroup
	for c := range min(r.clients, len(ops)) {
		clients.Go(func() {
			for i := c; i < len(ops); i += r.clients {
				op := r.session.Bind(ops[i].Resolve(r.state()))
				since[i] = r.session.Latest()
				a, err := r.session.Send(ctx, op)
				calls[i], errs[i] = model.Call{Op: op, Response: a.Response}, err
			}
		})
	}
	clients.Wait()
	return func(events []model.Event) []model.Call {
		for i := range calls {
			calls[i].Sent = before(events, since[i])
			calls[i].Response = r.session.Translate(calls[i].Response)
		}
		return calls
	}, errors.Join(errs...)
}

// before returns the number of events up to a version: they had happened when the version was known.
func before(events []model.Event, version int64) int {
	n := 0
	for _, e := range events {
		if e.Object.Version <= version {
			n++
		}
	}
	return n
}

// sentinelEvery is the number of batches between sentinels; there is one at the end, too.
const sentinelEvery = 100

// sentinelID is larger than the generated IDs.
const sentinelID = 1 << 30

// sentinel waits for a cascade that it starts, and then compares the server's lists with the model.
func (r *runner) sentinel(ctx context.Context) error {
	id := sentinelID + 2*r.batches
	owner := model.Key{Kind: "ConfigMap", Namespace: model.Namespaces[0], Name: "sentinel"}
	dependent := owner
	dependent.Name += "-dependent"
	for _, op := range []model.Op{
		{ID: id, Verb: model.Create, Key: owner},
		{ID: id + 1, Verb: model.Create, Key: dependent,
			Owners: []model.Owner{
				{APIVersion: "v1", Kind: owner.Kind, Name: owner.Name, UID: model.UID(fmt.Sprintf("u%d", id))},
			}},
		{Verb: model.Delete, Key: owner, Policy: "Background"},
	} {
		if err := r.batch(ctx, []model.Op{op}); err != nil {
			return fmt.Errorf("sentinel: %w", err)
		}
	}
	listed, err := r.session.List(ctx)
	if err != nil {
		return err
	}
	if !listed.Same(r.state()) {
		return &failure{sent: r.ops, err: fmt.Errorf("the server lists\n%s\nand not\n%s", text(listed), text(r.state()))}
	}
	return nil
}

func (r *runner) report(calls []model.Call, events []model.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "In the state\n%sthere were\n", text(r.state()))
	for _, c := range calls {
		fmt.Fprintf(&b, "  %s\n    -> %s\n", c.Op, c.Response)
	}
	for _, e := range events {
		fmt.Fprintf(&b, "  %d %s\n", e.Object.Version, e)
	}
	return b.String()
}

func text(s model.State) string {
	var b strings.Builder
	for _, k := range s.Keys() {
		fmt.Fprintf(&b, "  %s\n", s[k])
	}
	return b.String()
}
