package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// Errors that clients see. The table has the Status of each.
var (
	// ErrNoRoute: the path is below an installed group, but is not served (0-11).
	ErrNoRoute = errors.New("the server could not find the requested resource")
	// ErrNoMethod: the path is served, but not this verb (0-11).
	ErrNoMethod = errors.New("the server does not allow this method on the requested resource")
	// ErrNoTokens: the server has no key to sign tokens.
	ErrNoTokens = errors.New("this server signs no tokens")
	// ErrEmptyName: the path lacks a name (0-18).
	ErrEmptyName = errors.New("name must be provided")
	// ErrPatchMedia: the resource does not support this type of patch (B-50).
	ErrPatchMedia = errors.New("415: Unsupported Media Type")
	// ErrUnauthorized: the client has no credentials, or invalid ones.
	ErrUnauthorized = errors.New("Unauthorized")
	// ErrForeign: the port without TLS serves clients on this machine, but no web pages of other sites.
	ErrForeign = errors.New("forbidden: this port accepts only requests whose Host is a loopback name and that do not " +
		"come from another web site")
	// ErrForeignCertificate: a web page of another site can't use the browser's certificate.
	ErrForeignCertificate = errors.New("forbidden: a page of another web site can't use the certificate of this browser")
	// ErrPanic: a handler panicked (AS pkg/server/filters/wrap.go).
	ErrPanic = errors.New("this request caused apiserver to panic. Look in the logs for details")
	// ErrSlowBody: the body did not arrive in time.
	ErrSlowBody = errors.New("the request's body did not arrive in time")
	// ErrBusy: too many requests are in flight.
	//
	//lint:ignore ST1005 it is what clients see
	ErrBusy = errors.New("Too many requests, please try again later.")
	// ErrFull: open requests use up the memory.
	ErrFull = errors.New("requests in flight hold too much memory")
	// ErrTooLarge: the request needs more memory than one user may have.
	ErrTooLarge = errors.New("the request needs too much memory")
	// ErrCreateRevision: a new object has a resourceVersion.
	ErrCreateRevision = errors.New("resourceVersion should not be set on objects to be created")
)

// table has the Status of errors that are not API errors. The first match applies. An error without a row is 0-10.
var table = []struct {
	is     error
	code   int32
	reason metav1.StatusReason
	// text is the message. If it is empty, the message is the error's own.
	text string
	// retry is retryAfterSeconds.
	retry int32
	// details reports whether the Status has an empty details object.
	details bool
}{
	{is: ErrNoRoute, code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, details: true},
	{is: ErrNoMethod, code: http.StatusMethodNotAllowed, reason: metav1.StatusReasonMethodNotAllowed, details: true},
	{is: ErrNoTokens, code: http.StatusNotImplemented, reason: "NotImplemented"},
	{is: ErrEmptyName, code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest},
	{
		is: ErrPatchMedia, code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
		details: true,
	},
	{is: ErrUnauthorized, code: http.StatusUnauthorized, reason: metav1.StatusReasonUnauthorized},
	{is: ErrForeign, code: http.StatusForbidden, reason: metav1.StatusReasonForbidden},
	{is: ErrForeignCertificate, code: http.StatusForbidden, reason: metav1.StatusReasonForbidden},
	{
		is: ErrBusy, code: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, retry: 1,
		details: true,
	},
	{
		is: ErrFull, code: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, retry: 1,
		details: true,
	},
	{is: ErrTooLarge, code: http.StatusRequestEntityTooLarge, reason: metav1.StatusReasonRequestEntityTooLarge},
	{is: ErrSlowBody, code: http.StatusGatewayTimeout, reason: metav1.StatusReasonTimeout,
		text: "Timeout: request did not complete within requested timeout - context deadline exceeded", details: true},
	{is: context.DeadlineExceeded, code: http.StatusGatewayTimeout, reason: metav1.StatusReasonTimeout,
		text: "Timeout: request did not complete within requested timeout - context deadline exceeded", details: true},
	{is: context.Canceled, code: 499, reason: "", text: "the client closed the request"},
	{is: storage.ErrTooLarge, code: http.StatusRequestEntityTooLarge, reason: metav1.StatusReasonRequestEntityTooLarge,
		text: "Request entity too large: the object is larger than etcd takes in one request"},
	{is: storage.ErrNoSpace, code: http.StatusInsufficientStorage, reason: metav1.StatusReasonInternalError,
		text: "Internal error occurred: the storage has no space left. Objects can be read, and objects without " +
			"finalizers can be deleted. Writes succeed again seconds after enough was deleted; an external etcd must " +
			"first be defragmented and its alarm disarmed."},
	{is: storage.ErrReadOnly, code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, details: true},
	{
		is: storage.ErrUnavailable, code: http.StatusServiceUnavailable, reason: metav1.StatusReasonServiceUnavailable,
		retry: 1, details: true,
	},
	{is: storage.ErrCorrupt, code: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError},
	{
		is: storage.ErrCompacted, code: http.StatusGone, reason: metav1.StatusReasonExpired,
		text: "The resourceVersion for the provided list is too old.",
	},
}

// Of returns the Status for an error (0-01).
func Of(err error) *metav1.Status {
	if c := Unconverted(err); c != nil {
		if err = c; c.Ended != nil {
			err = c.Ended
		}
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		st.Kind, st.APIVersion, st.Status = "Status", "v1", metav1.StatusFailure
		if st.Code == 0 {
			st.Code = http.StatusInternalServerError
		}
		if st.Reason == metav1.StatusReasonUnknown {
			st.Reason = ""
		}
		return &st
	}
	st := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}
	for _, row := range table {
		if !errors.Is(err, row.is) {
			continue
		}
		st.Code, st.Reason = row.code, row.reason
		switch {
		case row.text != "":
			st.Message = row.text
		case row.reason == metav1.StatusReasonInternalError:
			st.Message = "Internal error occurred: " + st.Message // 0-09
		}
		if row.details || row.retry > 0 {
			st.Details = &metav1.StatusDetails{RetryAfterSeconds: row.retry}
		}
		return st
	}
	return st
}

// BadRequest returns an error 400 with a formatted message.
func BadRequest(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

// Error returns err as an API error, for callers in the process.
func Error(err error) error {
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		return err
	}
	return &statusWrapper{apierrors.StatusError{ErrStatus: *Of(err)}, err}
}

// statusWrapper is an API error with its cause.
type statusWrapper struct {
	apierrors.StatusError
	cause error
}

// Unwrap returns the cause.
func (e *statusWrapper) Unwrap() error { return e.cause }

// Oversized returns the error 413 for a request that would take too much work.
func Oversized(format string, args ...any) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(format, args...))
}
