package expression

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// list has compiled expressions that are evaluated together. They share a budget and the values of variables.
type list struct {
	// results are the compiled expressions. One without an accessor is a placeholder, which is not evaluated.
	results []plugincel.CompilationResult
	with    *composition // nil if the expressions may not use variables
}

// evaluate returns one result for each expression, and the rest of the budget. An error means that the budget is
// exhausted, or that the objects could not be converted. Messages and costs are upstream's (ASC condition.go: ForInput;
// activation.go: Evaluate). Upstream converts the objects and the request again for each list.
func (l *list) evaluate(
	ctx context.Context, v *Version, resource schema.GroupVersionResource, b Bindings, budget int64,
) ([]plugincel.EvaluationResult, int64, error) {
	a, err := v.activation(resource, b)
	if err != nil {
		return nil, 0, err
	}
	var variables plugincel.CompositionContext
	if l.with != nil {
		if variables, err = l.with.within(ctx); err != nil {
			return nil, 0, err
		}
		ctx, a.variables = variables, variables.Variables(a)
	}
	results := make([]plugincel.EvaluationResult, len(l.results))
	for i, compiled := range l.results {
		if compiled.ExpressionAccessor == nil {
			continue
		}
		if err := ctx.Err(); err != nil { // an expression checks the context itself
			return nil, 0, internal("operation interrupted: " + err.Error())
		}
		var cost int64
		if results[i], cost, err = evaluate(ctx, &compiled, a); err != nil {
			return nil, 0, err
		}
		if variables != nil {
			cost = add(cost, variables.GetAndResetCost())
		}
		if cost > budget {
			return nil, 0, &apiservercel.Error{
				Type: apiservercel.ErrorTypeInvalid, Cause: apiservercel.ErrOutOfBudget,
				Detail: "validation failed due to running out of cost budget, no further validation rules will be run",
			}
		}
		budget -= cost
	}
	return results, budget, nil
}

// evaluate returns the result of one expression and its cost, without the cost of variables.
func evaluate(
	ctx context.Context, compiled *plugincel.CompilationResult, a *activation,
) (r plugincel.EvaluationResult, cost int64, err error) {
	r.ExpressionAccessor = compiled.ExpressionAccessor
	if compiled.Error != nil {
		r.Error = &apiservercel.Error{
			Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("compilation error: %v", compiled.Error),
			Cause: compiled.Error,
		}
		return r, 0, nil
	}
	start := time.Now()
	value, details, failure := compiled.Program.ContextEval(ctx, a)
	r.Elapsed = time.Since(start)
	cost, ok := costOf(details)
	if !ok {
		return r, 0, internal(fmt.Sprintf(
			"runtime cost could not be calculated for expression: %v, no further expression will be run",
			compiled.ExpressionAccessor.GetExpression(),
		))
	}
	if failure != nil {
		r.Error = &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf(
			"expression '%v' resulted in error: %v", compiled.ExpressionAccessor.GetExpression(), failure,
		)}
		return r, cost, nil
	}
	r.EvalResult = value
	return r, cost, nil
}

// costOf returns the cost of an evaluation. ok is false if it is not known.
func costOf(details *cel.EvalDetails) (cost int64, ok bool) {
	if details == nil || details.ActualCost() == nil {
		return 0, false
	}
	return int64(min(*details.ActualCost(), math.MaxInt64)), true
}

// add adds costs without an overflow.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
