package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Change is a request whose object mutating webhooks may change. One goroutine calls its methods.
type Change interface {
	Attributes
	// Store replaces the object by the one that a webhook has returned. in is the resource that has its version. Store
	// sets the defaults of that version, and reports whether the object has changed. An error ends the request.
	Store(in schema.GroupVersionResource, object []byte) (changed bool, err error)
	// State returns a copy of the object in its current state.
	State() runtime.Object
}

// Mutate calls the matching webhooks one after the other. Each one gets the object with the changes of the previous
// ones. The second round calls only the webhooks that are marked in rounds.
func (c *Caller) Mutate(
	ctx context.Context, hooks []*Configured, q Change, rounds *Rounds[*Configured], round int,
) error {
	rounds.Begin(round, q.State)
	defer rounds.End(q.State)
	for place, h := range hooks {
		in, called, err := q.Match(ctx, h)
		if err != nil {
			return err
		}
		if !called || rounds.Skips(round, h) {
			continue
		}
		changed, err := c.mutate(ctx, h, q, in, fmt.Sprintf("round_%d_index_%d", round, place))
		if changed {
			rounds.Changed()
		}
		if h.Reinvoke {
			rounds.Called(h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mutate calls one webhook and applies its patch. at identifies the call in the keys of audit annotations.
func (c *Caller) mutate(
	ctx context.Context, h *Configured, q Change, in schema.GroupVersionResource, at string,
) (changed bool, err error) {
	defer func() { q.Annotate("mutation.webhook.admission.k8s.io/"+at, h.mutation(changed)) }()
	r, err := q.Review(in)
	if err != nil {
		return false, err
	}
	a, start := invocation{hook: h, request: r}, time.Now()
	changed, a.err = c.change(ctx, &a, q, in, at)
	a.took = time.Since(start)
	c.observe(&a)
	var call *CallError
	switch {
	case errors.As(a.err, &call) && h.FailOpen:
		return false, ignored(ctx, h, q, a.err, at)
	case call != nil:
		return false, apierrors.NewInternalError(a.err)
	}
	return changed, a.err
}

// change calls a webhook and applies the patch of its response to the object.
func (c *Caller) change(
	ctx context.Context, a *invocation, q Change, in schema.GroupVersionResource, at string,
) (changed bool, err error) {
	if a.response, err = c.Call(ctx, &a.hook.Hook, a.request); err != nil {
		return false, err
	}
	a.report(q)
	if err := a.hook.Denial(a.response); err != nil {
		return false, err
	}
	object, err := a.hook.Apply(a.response, a.request.Object)
	if err != nil || object == nil {
		return false, err
	}
	if changed, err = q.Store(in, object); err == nil {
		q.Annotate("patch.webhook.admission.k8s.io/"+at, a.hook.patch(a.response))
	}
	return changed, err
}

// ignored records a failed call that the failure policy ignores. It returns an error only if the request itself has
// ended (L-83).
func ignored(ctx context.Context, h *Configured, q Change, err error, at string) error {
	if !errors.Is(err, context.Canceled) { // not if the client canceled the request (L-86)
		q.Annotate("failed-open.mutation.webhook.admission.k8s.io/"+at, h.Name)
		q.FailedOpen(h, err)
	}
	if ctx.Err() != nil {
		return errTimeout()
	}
	return nil
}

// mutation returns the audit annotation of a call (L-113).
func (h *Configured) mutation(changed bool) string {
	return annotation(struct {
		Configuration string `json:"configuration"`
		Webhook       string `json:"webhook"`
		Mutated       bool   `json:"mutated"`
	}{h.Configuration, h.Name, changed})
}

// patch returns the audit annotation of an applied patch (L-113).
func (h *Configured) patch(r *Response) string {
	return annotation(struct {
		Configuration string                 `json:"configuration"`
		Webhook       string                 `json:"webhook"`
		Patch         json.RawMessage        `json:"patch,omitempty"`
		PatchType     *admissionv1.PatchType `json:"patchType,omitempty"`
	}{h.Configuration, h.Name, r.Patch, r.PatchType})
}

func annotation(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // an applied patch is valid JSON, and the other values are strings
	}
	return string(data)
}
