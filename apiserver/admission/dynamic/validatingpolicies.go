package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/expression"
)

// validatingPolicies is the plugin ValidatingAdmissionPolicy.
type validatingPolicies struct{ *Admission }

// Validate implements admission.Validator. It evaluates all policies and returns the first denial (M-38).
func (p validatingPolicies) Validate(ctx context.Context, a *admission.Attributes) error {
	set, err := p.set(a, validatingPolicy)
	if err != nil || set == nil || a.Validated {
		return err
	}
	candidates := set.plan(formOf(a)).validatingPolicies
	if len(candidates) == 0 {
		return nil
	}
	d := &decision{request: p.request(ctx, a)}
	all := d.invocations(ctx, candidates)
	for i := range all {
		if err := d.evaluate(ctx, &all[i]); err != nil {
			return err
		}
	}
	d.publish()
	return d.denial
}

// decision has the decisions of policies about a request.
type decision struct {
	*request
	// denial is the first denial, or nil.
	denial error
	// failures are the failures for the audit log (M-46).
	failures    []validationFailure
	annotations []annotation
}

// annotation is an audit annotation with its distinct values.
type annotation struct {
	key    string
	values []string
}

// evaluate evaluates one policy for one binding and param. An error ends the request.
func (d *decision) evaluate(ctx context.Context, i *invocation) error {
	if i.err == nil {
		v, err := d.version(i.in)
		if err == nil {
			b, err := d.bindings(ctx, i)
			if err != nil {
				return err
			}
			r := i.policy.validating().Validate(ctx, v, b)
			d.d.Metrics.matched(i.policy.name, kindPolicy, typeOfPolicy, d.a.Operation, r.Match)
			d.apply(i, r)
			return nil
		}
		i.err = fmt.Errorf("failed to convert object version: %w", err)
	}
	if !i.policy.failOpen {
		d.deny(i, i.failure(), "")
	}
	return nil
}

// apply applies the actions of a binding to the result of a policy (M-40).
func (d *decision) apply(i *invocation, r expression.Result) {
	for _, f := range r.Failures {
		if f.Ignored {
			d.observe(i, &f, "allow")
			continue
		}
		for _, action := range i.binding.actions {
			d.act(i, &f, action)
		}
	}
	for _, a := range r.Annotations {
		d.annotate(i.policy.name+"/"+a.Key, a.Value)
	}
	for _, message := range r.AnnotationErrors {
		d.deny(i, message, "")
		d.observe(i, &expression.Failure{Message: message}, "deny")
	}
}

// act executes an action for a failure.
func (d *decision) act(i *invocation, f *expression.Failure, action admissionv1.ValidationAction) {
	switch action {
	case admissionv1.Deny:
		d.deny(i, f.Message, f.Reason)
		d.observe(i, f, "deny")
	case admissionv1.Audit:
		d.record(i, f)
		d.observe(i, f, "audit")
	case admissionv1.Warn:
		d.a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
			i.policy.name, i.binding.name, f.Message))
		d.observe(i, f, "warn")
	}
}

func (d *decision) observe(i *invocation, f *expression.Failure, action string) {
	d.d.checks.validating.observe(f.Elapsed, i.policy.name, i.binding.name, errorType(f.Message), action)
}

// deny denies the request, unless it is already denied (M-41).
func (d *decision) deny(i *invocation, message string, reason metav1.StatusReason) {
	if d.denial != nil {
		return
	}
	with := ""
	if i.binding != nil {
		with = fmt.Sprintf(" with binding '%s'", i.binding.name)
	}
	message = fmt.Sprintf("ValidatingAdmissionPolicy '%s'%s denied request: %s", i.policy.name, with, message)
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	err := d.forbidden(errors.New(message))
	err.ErrStatus.Reason, err.ErrStatus.Code = reason, codeOf(reason)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: message}}
	d.denial = err
}

// codeOf returns the HTTP status code for a reason (ASP validating/policy_decision.go: reasonToCode).
func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}

// forbidden returns the error 403 for the request, which names the object.
func (q *request) forbidden(err error) *apierrors.StatusError {
	return admission.Forbidden(q.a, err).(*apierrors.StatusError)
}

// maxFailures limits the failures of a request in the audit log (ASP validating/dispatcher.go: maxValidationFailures).
const maxFailures = 50

// record adds a failure to the audit log.
func (d *decision) record(i *invocation, f *expression.Failure) {
	if len(d.failures) < maxFailures {
		d.failures = append(d.failures, validationFailure{
			Message: f.Message, Policy: i.policy.name, Binding: i.binding.name, ExpressionIndex: f.Index,
			ValidationActions: i.binding.actions,
		})
	}
}

// validationFailure is a failure in the audit annotation (ASP validating/dispatcher.go: ValidationFailureValue).
type validationFailure struct {
	Message           string                         `json:"message"`
	Policy            string                         `json:"policy"`
	Binding           string                         `json:"binding"`
	ExpressionIndex   int                            `json:"expressionIndex"`
	ValidationActions []admissionv1.ValidationAction `json:"validationActions"`
}

// annotate adds a value of an audit annotation. Equal values of several bindings and params are added once (M-47).
func (d *decision) annotate(key, value string) {
	i := slices.IndexFunc(d.annotations, func(a annotation) bool { return a.key == key })
	switch {
	case i < 0:
		d.annotations = append(d.annotations, annotation{key, []string{value}})
	case !slices.Contains(d.annotations[i].values, value):
		d.annotations[i].values = append(d.annotations[i].values, value)
	}
}

func (d *decision) publish() {
	if len(d.failures) > 0 {
		value, err := json.Marshal(d.failures)
		if err != nil {
			panic(err) // strings and numbers always encode
		}
		d.a.Audit.Annotate("validation.policy.admission.k8s.io/validation_failure", string(value))
	}
	for _, a := range d.annotations {
		d.a.Audit.Annotate(a.key, strings.Join(a.values, ", "))
	}
}
