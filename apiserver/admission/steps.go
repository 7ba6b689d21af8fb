package admission

import (
	"context"
	"time"
)

// Step is one of the two passes over a chain, by its name in metrics.
type Step string

// The steps.
const (
	Admitting  Step = "admit"
	Validating Step = "validate"
)

// Steps are the plugins, and what observes how long a step took. The mutating plugins take part in one step, whether
// they run once or twice (AS pkg/admission/metrics: WithStepMetrics).
type Steps struct {
	Chain
	// Observe may be nil.
	Observe func(s Step, o Operation, rejected bool, took time.Duration)
	// Each may be nil.
	Each Each
}

// Each observes how long the plugins of a chain take, by their place in it (AS pkg/admission/metrics:
// WithControllerMetrics).
type Each interface {
	// Observes reports whether the plugin is observed for an operation.
	Observes(place int, o Operation) bool
	// Observe observes one run of an observed plugin.
	Observe(place int, s Step, o Operation, rejected bool, took time.Duration)
}

// Admit runs the mutating plugins, and once more if one of them wants that (Attributes.Again).
func (s *Steps) Admit(ctx context.Context, a *Attributes) error {
	start := time.Now()
	a.Round = 0
	err := run(ctx, s, Admitting, a, Mutator.Admit)
	if err == nil && a.again {
		a.Round = 1
		err = run(ctx, s, Admitting, a, Mutator.Admit)
	}
	s.observe(Admitting, a, err, start)
	return err
}

// Validate runs the validating plugins.
func (s *Steps) Validate(ctx context.Context, a *Attributes) error {
	start := time.Now()
	err := run(ctx, s, Validating, a, Validator.Validate)
	s.observe(Validating, a, err, start)
	return err
}

func (s *Steps) observe(step Step, a *Attributes, err error, start time.Time) {
	if s.Observe != nil {
		s.Observe(step, a.Operation, err != nil, time.Since(start))
	}
}

// run calls the plugins that take part in a step.
func run[P Plugin](
	ctx context.Context, s *Steps, step Step, a *Attributes, call func(P, context.Context, *Attributes) error,
) error {
	w := stopwatch{each: s.Each, step: step, operation: a.Operation}
	for i, p := range s.Chain {
		if p, ok := p.(P); ok {
			w.start(i)
			err := call(p, ctx, a)
			w.stop(err)
			if err != nil {
				return denied(a, err)
			}
		}
	}
	return nil
}

// stopwatch takes the times of one pass over a chain. The end of a plugin is the beginning of the next one, so the
// clock is read once for each observed plugin.
type stopwatch struct {
	each      Each
	step      Step
	operation Operation
	// place is the plugin that runs, -1 if it is not observed.
	place int
	// since is the end of the last plugin, 0 if that is not known.
	since time.Duration
}

// epoch is what the times of stopwatches count from: time.Since reads one clock, time.Now two.
var epoch = time.Now()

func (w *stopwatch) start(place int) {
	if w.each == nil || !w.each.Observes(place, w.operation) {
		w.place, w.since = -1, 0
		return
	}
	if w.place = place; w.since == 0 {
		w.since = time.Since(epoch)
	}
}

func (w *stopwatch) stop(err error) {
	if w.place < 0 {
		return
	}
	now := time.Since(epoch)
	w.each.Observe(w.place, w.step, w.operation, err != nil, now-w.since)
	w.since = now
}
