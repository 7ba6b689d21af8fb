package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Attributes is a request that webhooks may be called for. One goroutine calls its methods.
type Attributes interface {
	// Match reports whether a webhook is called for the request, by its selectors, rules and conditions, and in which
	// resource it is shown. The error ends the request.
	Match(ctx context.Context, h *Configured) (in schema.GroupVersionResource, called bool, err error)
	// Review returns the request as a webhook sees it in the resource. The error ends the request.
	Review(in schema.GroupVersionResource) (*Request, error)
	// Warn adds a Warning header.
	Warn(text string)
	// Annotate adds an audit annotation.
	Annotate(key, value string)
	// FailedOpen records that a webhook could not be called and is ignored.
	FailedOpen(h *Configured, err error)
}

// failedOpenValidating is the annotation of a webhook that was ignored, by its place among those that were called
// (L-113).
const failedOpenValidating = "failed-open.validating.webhook.admission.k8s.io/round_0_index_%d"

// errTimeout: the request has ended before its webhooks were called (L-52).
func errTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}

// Validate calls all webhooks that match at the same time, and waits for all. The error is that of the first, in their
// order, that denies the request or can't be called (L-46, L-51, L-83).
func (c *Caller) Validate(ctx context.Context, hooks []*Configured, q Attributes) error {
	called, err := match(ctx, hooks, q)
	if err != nil || len(called) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	var all sync.WaitGroup
	for i := range called {
		all.Go(func() { c.callOne(ctx, &called[i]) })
	}
	all.Wait()
	for i := range called {
		if p := called[i].panicked; p != nil {
			panic(p) // in the request's goroutine, where it ends the request only
		}
	}
	var first error
	for i := range called {
		if err := c.result(&called[i], i, q); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// invocation is the call of one webhook.
type invocation struct {
	hook     *Configured
	request  *Request
	response *Response
	err      error
	took     time.Duration
	// panicked is what the call has panicked with, and where; nil if it has not.
	panicked any
}

// callOne calls one webhook. It does not panic.
func (c *Caller) callOne(ctx context.Context, a *invocation) {
	start := time.Now()
	defer func() {
		a.took = time.Since(start)
		if p := recover(); p != nil {
			a.panicked = fmt.Sprintf("calling webhook %s: %v\n%s", a.hook.Name, p, debug.Stack())
		}
	}()
	a.response, a.err = c.Call(ctx, &a.hook.Hook, a.request)
}

// match returns the calls of the webhooks that match.
func match(ctx context.Context, hooks []*Configured, q Attributes) (called []invocation, err error) {
	for _, h := range hooks {
		in, ok, err := q.Match(ctx, h)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		r, err := q.Review(in)
		if err != nil {
			return nil, err
		}
		called = append(called, invocation{hook: h, request: r})
	}
	return called, nil
}

// result adds what the webhook has responded to the request, and returns why it is denied.
func (c *Caller) result(a *invocation, place int, q Attributes) error {
	if a.err == nil {
		a.report(q)
		a.err = a.hook.Denial(a.response)
	}
	c.observe(a)
	var call *CallError
	switch {
	case errors.As(a.err, &call) && a.hook.FailOpen:
		if !errors.Is(a.err, context.Canceled) { // the client has gone away (L-86)
			q.Annotate(fmt.Sprintf(failedOpenValidating, place), a.hook.Name)
			q.FailedOpen(a.hook, a.err)
		}
		return nil
	case call != nil:
		return apierrors.NewInternalError(a.err)
	}
	return a.err
}

// report passes on warnings and annotations, also of a denial (L-79, L-80).
func (a *invocation) report(q Attributes) {
	for _, text := range a.response.Warnings {
		q.Warn(text)
	}
	for key, value := range a.response.AuditAnnotations {
		q.Annotate(a.hook.Name+"/"+key, value)
	}
}
