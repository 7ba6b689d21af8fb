package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
)

const (
	// again is the pause between two requests of a wait.
	again = 100 * time.Millisecond
	// waitTimeout limits a wait, and idleTimeout the time without an event, if the step has no timeout.
	waitTimeout = 30 * time.Second
	idleTimeout = 10 * time.Second
)

var (
	// ErrNoServer: the server does not respond.
	ErrNoServer = errors.New("the server can't be reached")
	// ErrNoNamespace: no namespace can be created for a scenario.
	ErrNoNamespace = errors.New("a namespace can't be created")
)

// Options are the options of a run. Zero fields mean the default.
type Options struct {
	// Attempts is the maximum number of replays of a scenario until all its steps are equal (default: 1). Some reads
	// follow a write immediately, so their result depends on the speed of a controller.
	Attempts int
	// Changes are the changed responses of servers of later minor versions.
	Changes []Change
	// PrintedValues also compares the objects, lists and diffs in messages. Otherwise WithoutPrinted removes them.
	PrintedValues bool
	// Progress is called before each step.
	Progress func(scenario string, step, steps int)
	// now and sleep use the clock, except in tests.
	now   func() time.Time
	sleep func(context.Context, time.Duration)
}

// Run replays the scenarios. If it returns an error, or if ctx ends during the run, the report has the results so far.
func Run(ctx context.Context, t *Target, scenarios []Scenario, o Options) (*Report, error) {
	if o.now == nil {
		o.now, o.sleep = time.Now, pause
	}
	rep := &Report{Server: t.URL}
	if _, err := t.send(ctx, message{method: http.MethodGet, path: "/readyz"}); err != nil {
		return rep, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	if len(o.Changes) > 0 {
		version, err := t.version(ctx)
		if err != nil {
			return rep, fmt.Errorf("%w: %w", ErrNoServer, err)
		}
		if scenarios, rep.Rules, err = Apply(scenarios, o.Changes, version); err != nil {
			return rep, err
		}
	}
	for _, s := range scenarios {
		if users := s.lacking(t.Tokens); len(users) > 0 {
			rep.add(Result{Scenario: s.Name, Skipped: "no token of " + strings.Join(users, " and ")})
			continue
		}
		result, err := attempts(ctx, t, s, o)
		rep.add(result)
		if err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// attempts replays a scenario until it is equal, at most Attempts times. It returns the result of the last replay.
func attempts(ctx context.Context, t *Target, s Scenario, o Options) (Result, error) {
	for i := 1; ; i++ {
		p := &player{Target: t, Options: o, scenario: s, names: newNames(namespace(s.Name))}
		result, err := p.play(ctx)
		result.Attempts = i
		if err != nil || len(result.Findings) == 0 || i >= o.Attempts {
			return result, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

var unnamable = regexp.MustCompile(`[^a-z0-9]+`)

// namespace returns a new name for the namespace of a scenario. The name contains that of the scenario, and never
// occurs in other strings.
func namespace(scenario string) string {
	file := unnamable.ReplaceAllString(scenario[strings.LastIndex(scenario, "/")+1:], "-")
	return fmt.Sprintf("ref-%s-%s", strings.Trim(file[:min(len(file), 20)], "-"), rand.String(5))
}

// player executes a scenario.
type player struct {
	*Target
	Options
	scenario Scenario
	names    *names
}

// play creates the namespace, replays the steps and deletes the namespace.
func (p *player) play(ctx context.Context) (Result, error) {
	result := Result{Scenario: p.scenario.Name}
	body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + p.names.fill("${ns}") + `"}}`
	made, err := p.send(ctx, message{method: http.MethodPost, path: "/api/v1/namespaces", body: []byte(body),
		header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}})
	defer p.clean(ctx)
	if err != nil {
		return result, fmt.Errorf("%w: %w", ErrNoNamespace, err)
	}
	if made.status != http.StatusCreated {
		return result, fmt.Errorf("%w: the server responds %d: %s", ErrNoNamespace, made.status,
			strings.TrimSpace(string(made.body)))
	}
	return p.steps(ctx, result)
}

// clean deletes the namespace with its content.
func (p *player) clean(ctx context.Context) {
	// An error has no consequences: the response is not compared, and each run has its own namespace.
	_, _ = p.send(context.WithoutCancel(ctx),
		message{method: http.MethodDelete, path: p.names.fill("/api/v1/namespaces/${ns}")})
}

func (p *player) steps(ctx context.Context, result Result) (Result, error) {
	answers, complete := make([]any, len(p.scenario.steps)), true
	for i := range p.scenario.steps {
		s := &p.scenario.steps[i]
		if p.Progress != nil {
			p.Progress(p.scenario.Name, i, len(p.scenario.steps))
		}
		if s.Do == sleep {
			p.sleep(ctx, seconds(s.Seconds))
			continue
		}
		m, err := p.names.message(s)
		if err != nil {
			return result, err
		}
		r, err := p.exchange(ctx, s, m)
		if ctx.Err() != nil { // an incomplete response is not compared
			return result, ctx.Err()
		}
		answer := object{{"error", fmt.Sprint(err)}}
		if err == nil {
			answer = p.names.answer(s, r)
		}
		answers[i], complete = answer, complete && err == nil
		differences := p.compare(s.Expect.any, answer)
		result.compared(Finding{Step: i, Title: s.title(), Differences: differences, Curl: p.curl(m)})
	}
	if complete {
		var err error
		if result.Recording, err = p.scenario.recorded(answers); err != nil {
			return result, err
		}
	}
	return result, nil
}

// exchange executes a step, and saves the values that the step names.
func (p *player) exchange(ctx context.Context, s *step, m message) (response, error) {
	if s.Do == watch {
		return p.watch(ctx, m, s.Count, s.limit(idleTimeout))
	}
	end := p.now().Add(s.limit(waitTimeout))
	for {
		r, err := p.send(ctx, m)
		if err != nil {
			return r, err
		}
		if s.Do != wait || p.names.holds(s.Until, r) || p.now().After(end) {
			p.names.saveFrom(s, r.body)
			return r, nil
		}
		p.sleep(ctx, again)
	}
}
