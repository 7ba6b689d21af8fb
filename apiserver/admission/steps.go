package admission

import (
	"context"
	"time"
)

// Step is one of the two steps of admission, by its name in metrics.
type Step string

// The steps.
const (
	Admitting  Step = "admit"
	Validating Step = "validate"
)

// Steps are the plugins, and the observers of their durations. The mutating plugins are one step, even if they run
// twice (AS pkg/admission/metrics: WithStepMetrics).
type Steps struct {
	Chain
	// Observe observes the duration of a step. It may be nil.
	Observe func(s Step, o Operation, rejected bool, took time.Duration)
	// Each observes the durations of plugins. It may be nil.
	Each Each
}

// Each observes the durations of the plugins of a chain. place is the index of a plugin (AS pkg/admission/metrics:
// WithControllerMetrics).
type Each interface {
	// Observes reports whether the plugin is observed for an operation.
	Observes(place int, o Operation) bool
	// Observe observes one run of a plugin.
	Observe(place int, s Step, o Operation, rejected bool, took time.Duration)
}

// Admit runs the mutating plugins, and once more if one of them called Attributes.Again.
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

// run calls the plugins of a step.
func run[P any](
	ctx context.Context, s *Steps, step Step, a *Attributes, call func(P, context.Context, *Attributes) error,
) error {
	w := stopwatch{each: s.Each, step: step, operation: a.Operation}
	for i, c := range s.Chain {
		if p, ok := c.Plugin.(P); ok {
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

// stopwatch measures the durations of the plugins in one step. The end of one is the start of the next, so that it
// reads the clock once for each observed plugin.
type stopwatch struct {
	each      Each
	step      Step
	operation Operation
	// place is the index of the plugin that runs, or -1 if it is not observed.
	place int
	// since is the end of the last plugin, or 0 if it is not known.
	since time.Duration
}

// epoch is the origin of the stopwatches' times. time.Since reads only one clock, but time.Now reads two.
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
