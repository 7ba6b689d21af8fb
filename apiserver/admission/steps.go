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
}

// Admit is Chain.Admit.
func (s Steps) Admit(ctx context.Context, a *Attributes) error {
	return s.observed(ctx, Admitting, a, s.Chain.Admit)
}

// Validate is Chain.Validate.
func (s Steps) Validate(ctx context.Context, a *Attributes) error {
	return s.observed(ctx, Validating, a, s.Chain.Validate)
}

func (s Steps) observed(
	ctx context.Context, step Step, a *Attributes, do func(context.Context, *Attributes) error,
) error {
	if s.Observe == nil {
		return do(ctx, a)
	}
	start := time.Now()
	err := do(ctx, a)
	s.Observe(step, a.Operation, err != nil, time.Since(start))
	return err
}
