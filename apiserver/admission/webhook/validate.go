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

// Question is a request that webhooks may be asked about. One goroutine calls its methods.
type Question interface {
	// Match reports whether a webhook is asked about the request, by its selectors, rules and conditions, and in which
	// resource it is shown. The error ends the request.
	Match(ctx context.Context, h *Configured) (in schema.GroupVersionResource, asked bool, err error)
	// Review returns the request as a webhook sees it in the resource. The error ends the request.
	Review(in schema.GroupVersionResource) (*Request, error)
	// Warn adds a Warning header.
	Warn(text string)
	// Annotate adds an audit annotation.
	Annotate(key, value string)
	// FailedOpen records that a webhook could not be asked and is ignored.
	FailedOpen(h *Configured, err error)
}

// failedOpenValidating is the annotation of a webhook that was ignored, by its place among those that were asked
// (L-113).
const failedOpenValidating = "failed-open.validating.webhook.admission.k8s.io/round_0_index_%d"

// errTimeout: the request has ended before its webhooks were asked (L-52).
func errTimeout() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
}

// Validate asks all webhooks that match at the same time, and waits for all. The error is that of the first, in their
// order, that denies the request or can't be asked (L-46, L-51, L-83).
func (c *Caller) Validate(ctx context.Context, hooks []*Configured, q Question) error {
	asked, err := match(ctx, hooks, q)
	if err != nil || len(asked) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	var all sync.WaitGroup
	for i := range asked {
		all.Go(func() { c.askOne(ctx, &asked[i]) })
	}
	c.aside(ctx, all.Wait)
	defer func() {
		for i := range asked {
			asked[i].response.Release()
		}
	}()
	for i := range asked {
		if p := asked[i].panicked; p != nil {
			panic(p) // in the request's goroutine, where it ends the request only
		}
	}
	var first error
	for i := range asked {
		if err := c.result(&asked[i], i, q); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// asking is one webhook that is asked.
type asking struct {
	hook     *Configured
	request  *Request
	response *Response
	err      error
	took     time.Duration
	// panicked is what the call has panicked with, and where; nil if it has not.
	panicked any
}

// askOne asks one webhook. It does not panic.
func (c *Caller) askOne(ctx context.Context, a *asking) {
	start := time.Now()
	defer func() {
		a.took = time.Since(start)
		if p := recover(); p != nil {
			a.panicked = fmt.Sprintf("asking webhook %s: %v\n%s", a.hook.Name, p, debug.Stack())
		}
	}()
	a.response, a.err = c.Ask(ctx, &a.hook.Hook, a.request)
}

// match returns the webhooks that are asked, with what they are asked.
func match(ctx context.Context, hooks []*Configured, q Question) (asked []asking, err error) {
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
		asked = append(asked, asking{hook: h, request: r})
	}
	return asked, nil
}

// result tells the request what the webhook has answered, and returns why it is denied.
func (c *Caller) result(a *asking, place int, q Question) error {
	if a.err == nil {
		a.tell(q)
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

// tell passes on warnings and annotations, also of a denial (L-79, L-80).
func (a *asking) tell(q Question) {
	for _, text := range a.response.Warnings {
		q.Warn(text)
	}
	for key, value := range a.response.AuditAnnotations {
		q.Annotate(a.hook.Name+"/"+key, value)
	}
}
