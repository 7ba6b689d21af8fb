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

// Admit is Chain.Admit.
func (s Steps) Admit(ctx context.Context, a *Attributes) error {
	return s.observed(Admitting, a, func() error { return s.mutate(ctx, a, s.Each) })
}

// Validate is Chain.Validate.
func (s Steps) Validate(ctx context.Context, a *Attributes) error {
	return s.observed(Validating, a, func() error { return s.validate(ctx, a, s.Each) })
}

func (s Steps) observed(step Step, a *Attributes, do func() error) error {
	if s.Observe == nil {
		return do()
	}
	start := time.Now()
	err := do()
	s.Observe(step, a.Operation, err != nil, time.Since(start))
	return err
}
