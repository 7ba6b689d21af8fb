package registry

import (
	"context"
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Post handles a POST for which the kind or its subresource has a hook. dryRun are the values of that option. It
// returns the body of the response 201; nil is a response without content.
func (s *Registry) Post(ctx context.Context, o *Operation, body runtime.Object, dryRun []string) (
	runtime.Object, error) {
	create, kind := o.Resource.Hooks.Create, o.Resource.GroupVersionKind()
	if o.Subresource != nil {
		create, kind = o.Subresource.Create, o.Subresource.Kind
	}
	if create == nil {
		return nil, status.ErrNoMethod
	}
	r := &post{host: host{s}, sent: o, on: o}
	r.SetDryRun(dryRun)
	out, err := create(ctx, r, body)
	if err == nil && out == body {
		out.GetObjectKind().SetGroupVersionKind(kind)
	}
	return out, err
}

// post implements hooks.Request.
type post struct {
	host
	// sent is the request of the client; on is the object that it acts on.
	sent, on *Operation
	dryRun   []string
	// attributes are those of Admit and Validate; nil before the first call.
	attributes *admission.Attributes
}

func (r *post) Namespace() string         { return r.on.Namespace }
func (r *post) Name() string              { return r.on.Name }
func (r *post) User() authentication.User { return r.on.User }
func (r *post) DryRun() []string          { return r.dryRun }

func (r *post) SetDryRun(values []string) {
	r.dryRun = values
	r.sent.DryRun, r.on.DryRun = IsDryRun(values), IsDryRun(values)
}

func (r *post) MatchNamespace(body metav1.Object) error {
	return MatchNamespace(r.sent.Resource, body, r.sent.Namespace)
}

func (r *post) CheckManagers(body metav1.Object) error { return fieldmanager.CheckEntries(body) }

func (r *post) Admit(ctx context.Context, body runtime.Object) error {
	if err := r.s.Fresh(ctx); err != nil { // by the newest configurations of webhooks
		return err
	}
	return r.s.Admission.Admit(ctx, r.admitted(body))
}

func (r *post) Validate(ctx context.Context, body runtime.Object) error {
	return r.s.Admission.Validate(ctx, r.admitted(body))
}

// admitted returns the admission attributes of the request, which are made once.
func (r *post) admitted(body runtime.Object) *admission.Attributes {
	if r.attributes == nil {
		r.attributes = r.sent.Attributes(admission.Create, body, nil)
		if m, err := meta.Accessor(body); err == nil && r.attributes.Name == "" { // L-68
			r.attributes.Name = m.GetName()
		}
	}
	return r.attributes
}

// On implements hooks.Request.
func (r *post) On(resource schema.GroupVersionResource, subresource, name string) (entry.Request, error) {
	next, on := *r, *r.on
	on.Resource, on.Name = r.s.entry(resource), name
	if on.Resource == nil {
		return nil, status.ErrNoRoute
	}
	on.Subresource = on.Resource.Subresource(subresource)
	next.on = &on
	return &next, nil
}

// Current implements hooks.Request.
func (r *post) Current(ctx context.Context) (Object, error) { return r.s.read(ctx, r.on) }

// Rewrite implements hooks.Request.
func (r *post) Rewrite(ctx context.Context, change func(Object) (Object, error)) (string, error) {
	o := *r.on
	o.Tracked, o.unchecked = true, true
	out, err := r.s.Update(ctx, &o, change)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(out.Revision, 10), nil
}

// Delete implements hooks.Request.
func (r *post) Delete(ctx context.Context, opts *metav1.DeleteOptions) error {
	on := *r.on
	on.admitted = true
	_, err := r.s.Delete(ctx, &on, opts)
	return err
}

// Precondition implements hooks.Request.
func (r *post) Precondition(what string, want, stored any) error {
	return r.on.precondition(r.s.Root, what, want, stored)
}

// UpdateStatus implements hooks.Request.
func (r *post) UpdateStatus(ctx context.Context, ref entry.Reference, change func(Object) (Object, error)) error {
	t, err := r.s.target(ref)
	if err != nil {
		return err
	}
	t.Subresource = t.Resource.Subresource("status")
	_, err = r.s.Update(ctx, &Operation{Target: t, User: r.on.User, Warn: r.on.Warn, Audit: r.on.Audit, DryRun: r.on.DryRun,
		Manager: "kube-apiserver", admitted: true}, change)
	return err
}

// target resolves a reference of a hook.
func (s *Registry) target(ref entry.Reference) (Target, error) {
	res := s.entry(ref.Resource)
	if res == nil {
		return Target{}, errors.New(ref.Resource.Resource + " are not served")
	}
	return Target{Resource: res, Namespace: ref.Namespace, Name: ref.Name}, nil
}

// read returns the decoded object by a consistent read.
func (s *Registry) read(ctx context.Context, o *Operation) (Object, error) {
	cur, err := s.Get(ctx, o, "")
	if err != nil {
		return nil, err
	}
	return o.Decode(cur)
}

// scanned calls yield for the decoded objects of a target in the cache. It stops at the first object that can't be
// decoded.
func (s *Registry) scanned(t Target, yield func(Object)) (err error) {
	snap, err := s.Cache.Snapshot(t.Resource.Collection, 0)
	if err != nil {
		return err
	}
	o := Operation{Target: t}
	snap.Ascend(t.Key(s.Root), "", func(item *storage.Object) bool {
		var obj Object
		if obj, err = o.Decode(item); err != nil {
			return false
		}
		yield(obj)
		return true
	})
	return err
}
