package registry

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Post handles a POST for which the kind or its subresource has a hook. opts may be nil. It returns the body of the
// response 201, or nil for a response without content.
func (s *Registry) Post(ctx context.Context, r *Request, body runtime.Object, opts *metav1.CreateOptions) (
	runtime.Object, error) {
	create, kind := r.Resource.Hooks.Create, r.Resource.GroupVersionKind()
	if r.Subresource != nil {
		create, kind = r.Subresource.Create, r.Subresource.Kind
	}
	if create == nil {
		return nil, status.ErrNoMethod
	}
	p := &post{host: host{s}, sent: r, on: r}
	if opts != nil {
		p.options = opts
		p.SetDryRun(opts.DryRun)
	}
	out, err := create(ctx, p, body)
	if err == nil && out == body {
		out.GetObjectKind().SetGroupVersionKind(kind)
	}
	return out, err
}

// post implements entry.Request.
type post struct {
	host
	// sent is the client's request. on is the request for the object on which it acts.
	sent, on *Request
	// options are the options of the request, or nil if it has none.
	options runtime.Object
	dryRun  []string
	// attributes are the attributes for Admit and Validate. They are nil before the first call.
	attributes *admission.Attributes
}

func (r *post) Namespace() string        { return r.on.Namespace }
func (r *post) Name() string             { return r.on.Name }
func (r *post) User() authorization.User { return r.on.User }
func (r *post) DryRun() []string         { return r.dryRun }

func (r *post) SetDryRun(values []string) {
	r.dryRun = values
	r.sent.DryRun, r.on.DryRun = IsDryRun(values), IsDryRun(values)
}

func (r *post) MatchNamespace(body metav1.Object) error {
	return r.sent.MatchNamespace(body)
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

// admitted returns the admission attributes of the request. The first call creates them.
func (r *post) admitted(body runtime.Object) *admission.Attributes {
	if r.attributes == nil {
		r.attributes = r.sent.attributes(admission.Create, body, nil, r.options)
		if m, err := meta.Accessor(body); err == nil && r.attributes.Name == "" { // L-68
			r.attributes.Name = m.GetName()
		}
	}
	return r.attributes
}

// On implements entry.Request.
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

// Current implements entry.Request.
func (r *post) Current(ctx context.Context) (Object, error) { return r.s.read(ctx, r.on.Target) }

// Rewrite implements entry.Request.
func (r *post) Rewrite(ctx context.Context, change func(Object) (Object, error)) (string, error) {
	out, err := r.s.rewrite(ctx, r.on, change)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(out.Revision, 10), nil
}

// Delete implements entry.Request.
func (r *post) Delete(ctx context.Context, opts *metav1.DeleteOptions) error {
	_, err := r.s.delete(ctx, &Deletion{Request: r.on, Options: opts}, noPlugins)
	return err
}

// Precondition implements entry.Request.
func (r *post) Precondition(what string, want, stored any) error {
	return r.on.precondition(r.s.Root, what, want, stored)
}

// UpdateStatus implements entry.Request.
func (r *post) UpdateStatus(ctx context.Context, ref entry.Reference, change func(Object) (Object, error)) error {
	t, err := r.s.target(ref)
	if err != nil {
		return err
	}
	t.Subresource = t.Resource.Subresource("status")
	on := *r.on
	on.Target, on.Sender = t, nil
	_, err = r.s.update(ctx, &Change{Request: &on, Manager: "kube-apiserver"},
		rules{plugins: noPlugins, validate: validateChange}, change)
	return err
}

// Admitted admits a request for a connection. The admitted object is the options of the connection (L-21). A consistent
// read precedes, so that the newest webhooks and policies apply.
func (s *Registry) Admitted(ctx context.Context, r *Request, options runtime.Object) error {
	if err := s.Fresh(ctx); err != nil {
		return err
	}
	a := r.attributes(admission.Connect, options, nil, nil)
	if err := s.Admission.Admit(ctx, a); err != nil {
		return err
	}
	return s.Admission.Validate(ctx, a)
}

// Backend returns the backend of a connection.
func (s *Registry) Backend(
	ctx context.Context, t Target, options runtime.Object, kubelets entry.Kubelets,
) (*entry.Backend, error) {
	return t.Subresource.Connect(ctx, host{s}, &entry.Connection{
		Namespace: t.Namespace, Name: t.Name, Options: options, Kubelets: kubelets,
	})
}
