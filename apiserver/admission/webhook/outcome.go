package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrorType is the type of the error that rejects a request (AS pkg/admission/metrics: WebhookRejectionErrorType).
type ErrorType string

// The types.
const (
	// Calling is the type for a failed call.
	Calling ErrorType = "calling_webhook_error"
	// Internal is the type for a response that can't be used for the request.
	Internal ErrorType = "apiserver_internal_error"
	// NoError is the type for a denial.
	NoError ErrorType = "no_error"
)

// Outcome is the result of one call of a webhook, for metrics.
type Outcome struct {
	Hook      *Hook
	Operation admissionv1.Operation
	Took      time.Duration
	// Rejected reports whether an error of the type Error rejects the request. Code is the HTTP status code of the
	// error. It is 200 without an error, and 0 for Internal.
	Rejected bool
	Error    ErrorType
	Code     int
	// Canceled reports whether the client canceled the request (L-86).
	Canceled bool
}

// outcome returns the outcome of a call, after its response was applied.
func (a *invocation) outcome() *Outcome {
	o := &Outcome{
		Hook: &a.hook.Hook, Operation: a.request.Operation, Took: a.took, Code: http.StatusOK, Error: NoError,
		Canceled: errors.Is(a.err, context.Canceled),
	}
	var call *CallError
	var status apierrors.APIStatus
	switch {
	case a.err == nil:
	case errors.As(a.err, &call):
		o.Rejected, o.Error, o.Code = !a.hook.FailOpen, Calling, call.code()
	case a.response != nil && !a.response.Allowed && errors.As(a.err, &status):
		o.Rejected, o.Code = true, int(status.Status().Code)
	default:
		o.Rejected, o.Error, o.Code = true, Internal, 0
	}
	return o
}

// code returns the HTTP status code of the error, or 503 if it has none.
func (e *CallError) code() int {
	if e.Code != 0 {
		return e.Code
	}
	if status := apierrors.APIStatus(nil); errors.As(e.Err, &status) {
		return int(status.Status().Code)
	}
	return http.StatusServiceUnavailable
}

// observe reports the outcome of a call.
func (c *Caller) observe(a *invocation) {
	if c.Observe != nil {
		c.Observe(a.outcome())
	}
}
