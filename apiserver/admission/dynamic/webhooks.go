package dynamic

import (
	"context"

	admissionwebhook "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// mutatingWebhooks is the plugin MutatingAdmissionWebhook.
type mutatingWebhooks struct{ *Admission }

// Admit implements admission.Mutator.
func (p mutatingWebhooks) Admit(ctx context.Context, a *admission.Attributes) error {
	set, err := p.set(a, mutatingHooks)
	if err != nil || set == nil {
		return err
	}
	matched := set.plan(formOf(a)).mutating
	if len(matched) == 0 {
		return nil
	}
	type rounds = webhook.Rounds[*webhook.Configured]
	kept := a.Kept(p, func() any { return &rounds{} }).(*rounds)
	q := &hookRequest{request: p.request(ctx, a), matched: matched, mutating: true}
	if err := p.caller.Mutate(ctx, set.mutating, q, kept, a.Round); err != nil {
		return err
	}
	if kept.Again {
		a.Again()
	}
	return q.failed(q.view.flush())
}

// validatingWebhooks is the plugin ValidatingAdmissionWebhook.
type validatingWebhooks struct{ *Admission }

// Validate implements admission.Validator.
func (p validatingWebhooks) Validate(ctx context.Context, a *admission.Attributes) error {
	set, err := p.set(a, validatingHooks)
	if err != nil || set == nil || a.Validated {
		return err
	}
	matched := set.plan(formOf(a)).validating
	if len(matched) == 0 {
		return nil
	}
	q := &hookRequest{request: p.request(ctx, a), matched: matched}
	return p.caller.Validate(ctx, set.validating, q)
}

func formOf(a *admission.Attributes) form {
	return form{a.Resource.Listed(), a.Subresource, a.Operation, a.Namespace != ""}
}

// hookRequest is a request for webhooks. It implements webhook.Change.
type hookRequest struct {
	*request
	matched  map[*webhook.Configured]*resources.Resource
	mutating bool
	// documents are the new and the stored object in JSON. Webhooks that get the same version share them.
	documents map[*resources.Resource][2][]byte
}

var _ webhook.Change = (*hookRequest)(nil)

// Match implements webhook.Attributes. It matches the rules first, because they cost nothing. Upstream checks in
// another order, so it may return another one of several errors. A selector's error is returned only if the rules match
// (L-30).
func (q *hookRequest) Match(ctx context.Context, h *webhook.Configured) (schema.GroupVersionResource, bool, error) {
	none := schema.GroupVersionResource{}
	in := q.matched[h]
	if in == nil {
		return none, false, nil
	}
	if h.Invalid != nil {
		return none, false, apierrors.NewInternalError(h.Invalid)
	}
	if ok, err := q.selected(ctx, h.Namespaces, h.Objects); !ok || err != nil {
		return none, false, err
	}
	ok, err := q.meets(ctx, h, in)
	return resourceOf(in), ok, err
}

// meets reports whether the match conditions are true.
func (q *hookRequest) meets(ctx context.Context, h *webhook.Configured, in *resources.Resource) (bool, error) {
	conditions := h.Conditions()
	if conditions == nil {
		return true, nil
	}
	v, err := q.version(in)
	if err != nil {
		return false, q.failed(err)
	}
	m := conditions.Match(ctx, v, expression.Bindings{Authorizer: q.lazyAuthorizer()}, failurePolicy(h.FailOpen))
	q.d.Metrics.matched(h.Name, kindWebhook, typeOf(h.Mutating), q.a.Operation, m)
	if m.Err != nil {
		return false, apierrors.NewForbidden(q.a.Resource.GroupResource(), q.name, m.Err) // L-42
	}
	return m.Matches, nil
}

// failed returns the error for a failed conversion, independent of the failure policy. In the mutating phase, two
// layers of upstream wrap it (L-36).
func (q *hookRequest) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case q.mutating:
		err = apierrors.NewInternalError(err)
	}
	return apierrors.NewInternalError(err)
}

// entry returns the entry of a matched resource.
func (q *hookRequest) entry(in schema.GroupVersionResource) *resources.Resource {
	for _, r := range q.matched {
		if resourceOf(r) == in {
			return r
		}
	}
	return nil
}

// Review implements webhook.Attributes.
func (q *hookRequest) Review(in schema.GroupVersionResource) (*webhook.Request, error) {
	res := q.entry(in)
	r := &webhook.Request{
		Kind: q.view.kind(res), RequestKind: q.a.Kind, Resource: in, RequestResource: resourceOf(q.a.Resource),
		Subresource: q.a.Subresource, Name: q.name, Namespace: q.namespace,
		Operation: admissionwebhook.Operation(q.a.Operation), User: q.a.User, DryRun: q.a.DryRun,
	}
	documents, err := q.encoded(res)
	if err != nil {
		return nil, q.failed(err)
	}
	r.Object, r.OldObject = documents[0], documents[1]
	if r.Options, err = encoded(q.options, nil); err != nil {
		return nil, q.failed(err)
	}
	return r, nil
}

// encoded returns the new and the stored object in a version, as JSON.
func (q *hookRequest) encoded(in *resources.Resource) (documents [2][]byte, err error) {
	if documents, ok := q.documents[in]; ok {
		return documents, nil
	}
	if documents[0], err = encoded(q.view.Object(in)); err != nil {
		return documents, err
	}
	if documents[1], err = encoded(q.view.Old(in)); err != nil {
		return documents, err
	}
	if q.documents == nil {
		q.documents = map[*resources.Resource][2][]byte{}
	}
	q.documents[in] = documents
	return documents, nil
}

// Store implements webhook.Change.
func (q *hookRequest) Store(in schema.GroupVersionResource, object []byte) (changed bool, err error) {
	res := q.entry(in)
	before, err := q.view.Object(res)
	if err != nil {
		return false, q.failed(err)
	}
	now, err := q.patched(res, object)
	if err != nil {
		return false, err
	}
	after, err := q.view.decode(now, object)
	if err != nil {
		return false, apierrors.NewInternalError(err) // L-85
	}
	clear(q.documents)
	q.change(now, after)
	return !apiequality.Semantic.DeepEqual(before, after), nil
}

// State implements webhook.Change. A DELETE has no object.
func (q *hookRequest) State() runtime.Object {
	if err := q.view.flush(); err != nil || q.a.Object == nil { // the same error ends the request
		return nil
	}
	return q.a.Object.DeepCopyObject()
}

// Warn implements webhook.Attributes.
func (q *hookRequest) Warn(text string) { q.a.Warn(text) }

// Annotate implements webhook.Attributes.
func (q *hookRequest) Annotate(key, value string) { q.a.Audit.Annotate(key, value) }

// FailedOpen implements webhook.Attributes.
func (q *hookRequest) FailedOpen(h *webhook.Configured, err error) {
	q.d.Metrics.failOpen.WithLabelValues(h.Name, typeOf(h.Mutating)).Inc()
	q.d.log.Warn("a webhook can't be called and is ignored", "webhook", h.Name, "configuration", h.Configuration,
		"err", err)
}
