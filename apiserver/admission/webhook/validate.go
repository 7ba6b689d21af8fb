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

// Attributes is a request for which webhooks may be called. Only one goroutine calls its methods.
type Attributes interface {
	// Match reports whether a webhook is called for the request, by its selectors, rules and conditions, and returns
	// the resource in whose version it gets the objects. An error ends the request.
	Match(ctx context.Context, h *Configured) (in schema.GroupVersionResource, called bool, err error)
	// Review returns the request in the version of a resource. An error ends the request.
	Review(in schema.GroupVersionResource) (*Request, error)
	// Warn adds a Warning header.
	Warn(text string)
	// Annotate adds an audit annotation.
	Annotate(key, value string)
	// FailedOpen records that a failed call of a webhook is ignored.
	FailedOpen(h *Configured, err error)
}

// failedOpenValidating is the audit annotation of a failed call that is ignored. It has the index of the webhook among
// those that were called (L-113).
const failedOpenValidating = "failed-open.validating.webhook.admission.k8s.io/round_0_index_%d"

// errTimeout returns the error for a request that has ended before its webhooks were called (L-52).
func errTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}

// Validate calls all matching webhooks at the same time, and waits for all. It returns the error of the first one, in
// their order, that denies the request or whose call fails (L-46, L-51, L-83).
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
			panic(p) // in the goroutine of the request, which recovers
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
	// panicked is the value and the stack of a panic of the call, or nil.
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

// result passes on a webhook's warnings and audit annotations, and returns the error that denies the request, or nil.
func (c *Caller) result(a *invocation, place int, q Attributes) error {
	if a.err == nil {
		a.report(q)
		a.err = a.hook.Denial(a.response)
	}
	c.observe(a)
	var call *CallError
	switch {
	case errors.As(a.err, &call) && a.hook.FailOpen:
		if !errors.Is(a.err, context.Canceled) { // not if the client canceled the request (L-86)
			q.Annotate(fmt.Sprintf(failedOpenValidating, place), a.hook.Name)
			q.FailedOpen(a.hook, a.err)
		}
		return nil
	case call != nil:
		return apierrors.NewInternalError(a.err)
	}
	return a.err
}

// report passes on a webhook's warnings and audit annotations, even if its response is a denial (L-79, L-80).
func (a *invocation) report(q Attributes) {
	for _, text := range a.response.Warnings {
		q.Warn(text)
	}
	for key, value := range a.response.AuditAnnotations {
		q.Annotate(a.hook.Name+"/"+key, value)
	}
}
