package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// Hook is one webhook of a configuration.
type Hook struct {
	Name string
	// Mutating reports whether the webhook belongs to a MutatingWebhookConfiguration.
	Mutating bool
	Client   webhook.Config
	// ReviewVersions are admissionReviewVersions.
	ReviewVersions []string
	// SideEffects is nil only in objects that were stored without validation.
	SideEffects *admissionregistrationv1.SideEffectClass
	// Timeout limits the duration of a call. 0 is no limit except the request's.
	Timeout time.Duration
}

// CallError is the error of a failed call of a webhook, or of an invalid response. The failure policy applies.
type CallError struct {
	Hook string
	Err  error
	// Code is the HTTP status code of the error in metrics. It is 0 if Err has the code.
	Code int
}

// Error returns upstream's message (AS pkg/util/webhook/error.go).
func (e *CallError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.Hook, e.Err)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// errSideEffects is the error for a webhook that was stored without sideEffects.
//
//lint:ignore ST1005 upstream's words
var errSideEffects = errors.New("Webhook SideEffects is nil")

// Caller calls webhooks. Its methods may be called from any goroutine.
type Caller struct {
	Clients *webhook.Clients
	// Observe is called once for each call of a webhook, by any goroutine. It may be nil.
	Observe func(*Outcome)
}

// header has the User-Agent of upstream's client.
var header = http.Header{"User-Agent": {"kube-apiserver-admission"}}

// Call sends one review. The response may deny the request. The error is a CallError, or a 400 if the webhook does not
// support a dry run (L-60).
func (c *Caller) Call(ctx context.Context, h *Hook, r *Request) (*Response, error) {
	if err := h.dryRun(r); err != nil {
		return nil, err
	}
	return c.send(ctx, h, r)
}

// dryRun returns an error if the request is a dry run and the webhook does not support it.
func (h *Hook) dryRun(r *Request) error {
	switch {
	case !r.DryRun:
		return nil
	case h.SideEffects == nil:
		return &CallError{Hook: h.Name, Err: errSideEffects, Code: http.StatusBadRequest}
	case *h.SideEffects == admissionregistrationv1.SideEffectClassNone,
		*h.SideEffects == admissionregistrationv1.SideEffectClassNoneOnDryRun:
		return nil
	}
	return webhookerrors.NewDryRunUnsupportedErr(h.Name)
}

func (c *Caller) send(ctx context.Context, h *Hook, r *Request) (*Response, error) {
	failed := func(code int, what string, err error) (*Response, error) {
		return nil, &CallError{Hook: h.Name, Err: fmt.Errorf(what+": %w", err), Code: code}
	}
	gv, err := version(h.ReviewVersions)
	uid := types.UID(uuid.NewUUID())
	var data []byte
	if err == nil {
		data, err = r.encode(gv, uid)
	}
	if err != nil {
		return failed(http.StatusBadRequest, "could not create admission objects", err)
	}
	if h.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.Timeout)
		defer cancel()
	}
	var response *Response
	var invalid error
	err = c.Clients.Call(ctx, &h.Client, data, header, func(body []byte) error {
		response, invalid = decode(body, gv, uid, h.Mutating)
		return nil
	})
	switch {
	case webhook.IsConfig(err):
		return failed(http.StatusInternalServerError, "could not get REST client", err)
	case err != nil:
		return failed(0, "failed to call webhook", err)
	case invalid != nil:
		return nil, &CallError{Hook: h.Name, Err: invalid}
	}
	return response, nil
}

// Denial returns the error for a response that denies the request (L-81), or nil.
func (h *Hook) Denial(r *Response) error {
	if r.Allowed {
		return nil
	}
	err := webhookerrors.ToStatusErr(h.Name, r.Result)
	if err.ErrStatus.Code > maxCode {
		err.ErrStatus.Code = http.StatusInternalServerError
	}
	return err
}

// maxCode is the largest status code that net/http accepts.
const maxCode = 999

// Apply applies a response's patch to an object in the webhook's version. The object is JSON, or nil if there is none.
// Apply returns nil if the patch is empty. The error is a CallError for a patch that can't be read, and a 500 for one
// that can't be applied (L-85).
func (h *Hook) Apply(r *Response, object []byte) ([]byte, error) {
	if len(r.Patch) == 0 {
		return nil, nil
	}
	patch, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return nil, &CallError{Hook: h.Name, Err: fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	switch {
	case len(patch) == 0:
		return nil, nil
	case object == nil:
		const unsupported = "admission webhook %q attempted to modify the object, which is not supported for this operation"
		return nil, apierrors.NewInternalError(fmt.Errorf(unsupported, h.Name))
	case *r.PatchType != admissionv1.PatchTypeJSONPatch:
		return nil, &CallError{
			Hook: h.Name, Err: fmt.Errorf("unsupported patch type %q", *r.PatchType), Code: http.StatusBadRequest,
		}
	}
	out, err := patch.Apply(object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}
