package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrorType says whose error rejects a request (AS pkg/admission/metrics: WebhookRejectionErrorType).
type ErrorType string

// The types.
const (
	// Calling: the webhook could not be called.
	Calling ErrorType = "calling_webhook_error"
	// Internal: what the webhook responded can't be used for the request.
	Internal ErrorType = "apiserver_internal_error"
	// NoError: the webhook denies the request.
	NoError ErrorType = "no_error"
)

// Outcome is what came of calling a webhook once, for metrics.
type Outcome struct {
	Hook      *Hook
	Operation admissionv1.Operation
	Took      time.Duration
	// Rejected reports whether the request is rejected, by an error of the type. Code is the HTTP status code of the
	// error; 200 for none, 0 for Internal.
	Rejected bool
	Error    ErrorType
	Code     int
	// Canceled reports whether the client has gone away (L-86).
	Canceled bool
}

// outcome returns what came of it, once everything was done with the response.
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

// code is the status code of an error, 503 unless the error has another one.
func (e *CallError) code() int {
	if e.Code != 0 {
		return e.Code
	}
	if status := apierrors.APIStatus(nil); errors.As(e.Err, &status) {
		return int(status.Status().Code)
	}
	return http.StatusServiceUnavailable
}

// observe reports an outcome.
func (c *Caller) observe(a *invocation) {
	if c.Observe != nil {
		c.Observe(a.outcome())
	}
}
