package expression

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Validating is a compiled ValidatingAdmissionPolicy. It is immutable.
type Validating struct {
	spec       *admissionv1.ValidatingAdmissionPolicySpec
	conditions *Conditions
	// validations, messages and annotations are nil if the policy has none. A message has the index of its validation.
	validations, messages, annotations *list
}

// CompileValidating compiles a policy, which must not be changed afterwards. An expression that does not compile causes
// an error in each evaluation (M-71).
func CompileValidating(spec *admissionv1.ValidatingAdmissionPolicySpec) *Validating {
	c := compositionFor(spec.ParamKind != nil, len(spec.Variables))
	stored := func(a *accessor) plugincel.CompilationResult { return c.compile(a, environment.StoredExpressions) }
	for _, v := range spec.Variables {
		c.add(v.Name, v.Expression, environment.StoredExpressions)
	}
	out := &Validating{spec: spec, conditions: conditionsOf(spec.MatchConditions, stored, c)}
	if n := len(spec.Validations); n > 0 {
		validations, messages := make([]plugincel.CompilationResult, n), make([]plugincel.CompilationResult, n)
		said := false
		for i, v := range spec.Validations {
			validations[i] = stored(&accessor{role: Validation, expression: v.Expression})
			if v.MessageExpression != "" {
				said, messages[i] = true, stored(&accessor{role: Message, expression: v.MessageExpression})
			}
		}
		out.validations = &list{validations, c}
		if said {
			out.messages = &list{messages, c}
		}
	}
	if n := len(spec.AuditAnnotations); n > 0 {
		results := make([]plugincel.CompilationResult, n)
		for i, a := range spec.AuditAnnotations {
			results[i] = stored(&accessor{role: Annotation, name: a.Key, expression: a.ValueExpression})
		}
		out.annotations = &list{results, c}
	}
	return out
}

// Failure is a failed validation, or an error.
type Failure struct {
	// Index is the index of the validation. It is 0 for an error that is not about one validation (M-46).
	Index int
	// Error is set if the evaluation failed. Ignored is set if the failure policy ignores that.
	Error, Ignored bool
	// Message is the message after "denied request: " (M-42, M-43).
	Message string
	// Reason is the reason of the Status. It is Invalid for errors (M-41).
	Reason metav1.StatusReason
	// Elapsed is the duration of the validation's evaluation.
	Elapsed time.Duration
}

// AuditAnnotation is an audit annotation. Key does not have the policy's name.
type AuditAnnotation struct{ Key, Value string }

// Result is the result of a policy for one param.
type Result struct {
	// Match is the result of the match conditions. If they exclude the request, the other fields are empty.
	Match Match
	// Failures are in the order of the validations.
	Failures []Failure
	// Annotations are in the order of the policy. They are recorded even if the request is denied.
	Annotations []AuditAnnotation
	// AnnotationErrors deny the request, independent of the binding's actions (M-40).
	AnnotationErrors []string
}

// Validate evaluates the policy (M-38 to M-50; ASP validating/validator.go).
func (p *Validating) Validate(ctx context.Context, v *Version, b Bindings) (r Result) {
	r.Match = p.conditions.Match(ctx, v, b, p.spec.FailurePolicy)
	if r.Match.Err != nil {
		r.Failures = p.failed(r.Match.Err)
		return r
	}
	if !r.Match.Matches {
		return r
	}
	failures, err := p.validate(ctx, v, b)
	if err != nil {
		r.Failures = p.failed(err)
		return r
	}
	r.Failures = failures
	if p.annotations == nil {
		return r
	}
	// namespaceObject has all fields, and the authorizer has no value (M-34).
	b.whole, b.Authorizer = true, nil
	results, _, err := p.annotations.evaluate(ctx, v, v.Resource, b, celconfig.RuntimeCELCostBudget)
	if err != nil {
		r.Failures = p.failed(err)
		return r
	}
	for _, result := range results {
		p.annotate(&r, result)
	}
	return r
}

// failed returns the failure of the whole policy.
func (p *Validating) failed(err error) []Failure {
	return []Failure{{
		Error: true, Ignored: ignores(p.spec.FailurePolicy), Message: err.Error(), Reason: metav1.StatusReasonInvalid,
	}}
}

// validate evaluates the validations, and then their messages with the rest of the budget.
func (p *Validating) validate(ctx context.Context, v *Version, b Bindings) (failures []Failure, err error) {
	if p.validations == nil {
		return nil, nil
	}
	results, left, err := p.validations.evaluate(ctx, v, v.Resource, b, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	messages := make([]plugincel.EvaluationResult, len(results))
	if p.messages != nil {
		b.Authorizer = nil
		var found []plugincel.EvaluationResult
		if found, _, err = p.messages.evaluate(ctx, v, v.Resource, b, left); err == nil {
			messages = found
		}
	}
	for i, result := range results {
		if f := p.failure(i, result, messages[i], err); f != nil {
			failures = append(failures, *f)
		}
	}
	return failures, nil
}

// failure returns the failure of the validation with an index, or nil if it holds. messageErr is the error that ended
// the evaluation of the messages. As in upstream, it can fail even validations that hold.
func (p *Validating) failure(i int, result, message plugincel.EvaluationResult, messageErr error) *Failure {
	f := &Failure{Index: i, Reason: metav1.StatusReasonInvalid, Elapsed: result.Elapsed}
	switch validation := &p.spec.Validations[i]; {
	case result.Error != nil:
		f.Error, f.Message = true, result.Error.Error()
	case errors.Is(messageErr, apiservercel.ErrOutOfBudget), errors.Is(messageErr, apiservercel.ErrInternal):
		f.Error, f.Message = true, fmt.Sprintf("failed messageExpression: %s", messageErr)
	case result.EvalResult == celtypes.True:
		return nil
	default:
		f.Message = messageOf(validation, message)
		if validation.Reason != nil {
			f.Reason = *validation.Reason
		}
	}
	f.Ignored = f.Error && ignores(p.spec.FailurePolicy)
	return f
}

// messageOf returns the message of a failed validation (M-42).
func messageOf(v *admissionv1.Validation, result plugincel.EvaluationResult) string {
	if result.Error == nil && result.EvalResult != nil {
		said, _ := result.EvalResult.Value().(string)
		said = strings.TrimSpace(said)
		if said != "" && len(said) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(said, "\n") {
			return said
		}
	}
	if said := strings.TrimSpace(v.Message); said != "" {
		return said
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

// maxAnnotation is the maximum length in bytes of an audit annotation's value, which is cut there (ASP
// validating/dispatcher.go: maxAuditAnnotationValueLength).
const maxAnnotation = 10 << 10

// annotate adds the result of an audit annotation. It skips null and blank strings.
func (p *Validating) annotate(r *Result, result plugincel.EvaluationResult) {
	a := result.ExpressionAccessor.(*accessor)
	if result.Error != nil {
		if !ignores(p.spec.FailurePolicy) {
			r.AnnotationErrors = append(r.AnnotationErrors, result.Error.Error())
		}
		return
	}
	if result.EvalResult.Type() == celtypes.NullType {
		return
	}
	value, ok := result.EvalResult.Value().(string)
	if !ok {
		r.AnnotationErrors = append(r.AnnotationErrors, fmt.Sprintf(
			"valueExpression '%v' resulted in unsupported return type: %v. Return type must be either string or null.",
			a.expression, result.EvalResult.Type(),
		))
		return
	}
	if value = strings.TrimSpace(value); value != "" {
		r.Annotations = append(r.Annotations, AuditAnnotation{a.name, value[:min(len(value), maxAnnotation)]})
	}
}
