package expression

import (
	"context"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Conditions are the compiled match conditions of a webhook or policy. They are immutable. nil is no conditions.
type Conditions struct{ list *list }

// CompileConditions compiles the match conditions of a webhook. A condition that does not compile causes an error in
// each evaluation (L-43).
func CompileConditions(conditions []admissionv1.MatchCondition) *Conditions {
	return conditionsOf(conditions, func(a *accessor) plugincel.CompilationResult {
		return plain(a, false, environment.StoredExpressions)
	}, nil)
}

func conditionsOf(
	conditions []admissionv1.MatchCondition, compile func(*accessor) plugincel.CompilationResult, with *composition,
) *Conditions {
	if len(conditions) == 0 {
		return nil
	}
	results := make([]plugincel.CompilationResult, len(conditions))
	for i, c := range conditions {
		results[i] = compile(&accessor{role: Condition, name: c.Name, expression: c.Expression})
	}
	return &Conditions{&list{results, with}}
}

// Match is the result of match conditions.
type Match struct {
	// Matches reports whether all conditions are true.
	Matches bool
	// Excluded is the name of the first false condition, or empty.
	Excluded string
	// Failed is the number of conditions with an error before Excluded.
	Failed int
	// Err is the error that denies the request. It is only set for the failure policy Fail, if no condition is false.
	Err error
	// Elapsed is the duration of the evaluation. It is 0 if there are no conditions.
	Elapsed time.Duration
}

// Match evaluates the conditions with their own budget (L-41, L-45; ASW matchconditions/matcher.go). namespaceObject is
// null.
func (c *Conditions) Match(
	ctx context.Context, v *Version, b Bindings, failure *admissionv1.FailurePolicyType,
) Match {
	if c == nil {
		return Match{Matches: true}
	}
	start := time.Now()
	m := c.match(ctx, v, b, failure)
	m.Elapsed = time.Since(start)
	return m
}

func (c *Conditions) match(
	ctx context.Context, v *Version, b Bindings, failure *admissionv1.FailurePolicyType,
) Match {
	denied := func(m Match, err error) Match {
		if !ignores(failure) {
			m.Err = err
		}
		return m
	}
	// In match conditions, request.resource is the resource of the request, not the matched one.
	resource := schema.GroupVersionResource(v.typed.GetResource())
	b.Namespace = nil
	results, _, err := c.list.evaluate(ctx, v, resource, b, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return denied(Match{}, err)
	}
	var m Match
	var errs []error
	for _, r := range results {
		if r.Error != nil {
			m.Failed++
			errs = append(errs, r.Error)
		}
		if r.EvalResult == celtypes.False {
			m.Excluded = r.ExpressionAccessor.(*accessor).name
			return m
		}
	}
	if len(errs) > 0 {
		return denied(m, utilerrors.NewAggregate(errs))
	}
	m.Matches = true
	return m
}

func ignores(failure *admissionv1.FailurePolicyType) bool {
	return failure != nil && *failure == admissionv1.Ignore
}
