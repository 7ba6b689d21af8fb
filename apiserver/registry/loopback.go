package registry

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
	"github.com/kubecascade/kubecascade/storage"
)

// Loopback is the in-process client of one identity. Its requests take the same path as those over HTTP, except for
// decoding and encoding: the same admission, validation, decisions and metrics.
type Loopback struct {
	s    *Registry
	user authentication.User
	// manager is the field manager of its writes.
	manager string
	// because is why it sends requests that remove objects; nil if it doesn't say.
	because *Because
}

// Loopback returns a client with the user's identity. manager is its field manager in managedFields.
func (s *Registry) Loopback(u authentication.User, manager string) *Loopback {
	return &Loopback{s: s, user: u, manager: manager}
}

// Path names an object or, if Name is empty, a collection.
type Path struct {
	Resource    *resources.Resource
	Subresource string
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace, Name string
}

// Types is the table of served resources.
func (l *Loopback) Types() *resources.Types { return l.s.Types }

// Key is the key under which an object is stored.
func (l *Loopback) Key(r *resources.Resource, namespace, name string) string {
	return Target{Resource: r, Namespace: namespace, Name: name}.Key(l.s.Root)
}

// call runs one request with a deadline, counts and records it, and converts its error to a Status error.
func (l *Loopback) call(ctx context.Context, verb string, p Path, do func(context.Context, *Operation) error) (
	err error) {
	o := &Operation{Target: Target{Resource: p.Resource, Namespace: p.Namespace, Name: p.Name},
		User: l.user, Manager: l.manager, Warn: &warning.List{}, sender: &sender{verb, l.manager, l.because}}
	if p.Subresource != "" {
		if o.Subresource = p.Resource.Subresource(p.Subresource); o.Subresource == nil {
			return status.Error(status.ErrNoRoute)
		}
	}
	if !o.Serves(verb) {
		return status.Error(status.ErrNoMethod)
	}
	start := time.Now()
	defer func() {
		r := recover()
		if r != nil {
			l.s.Log.Error("a controller's request panicked",
				"verb", verb, "key", o.Key(l.s.Root), "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s %s panicked: %v", verb, o.Key(l.s.Root), r)
		}
		if err != nil {
			err = status.Error(err)
		}
		seen := Observed{o.Target, verb, o.code(err), time.Since(start), r != nil}
		l.s.Observe(seen)
		l.log(ctx, seen)
		o.recordEnd(err, r)
	}()
	if err := l.record(verb, o); err != nil {
		return err
	}
	if !LongRunning(verb) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.s.Timeout)
		defer cancel()
	}
	o.Resource = o.Resource.During(ctx)
	return do(ctx, o)
}

// log logs a request as those of clients are logged (filters.Measure). Lists are no requests (methodOf).
func (l *Loopback) log(ctx context.Context, r Observed) {
	method := methodOf(r.Verb)
	if method == "" || !l.s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.s.Log.Debug("controller request",
		"method", method, "uri", r.path(), "code", r.Code, "took", r.Took, "user", l.user.Name, "manager", l.manager)
}

// Get returns an object by a consistent read.
func (l *Loopback) Get(ctx context.Context, p Path) (out *storage.Object, err error) {
	err = l.call(ctx, "get", p, func(ctx context.Context, o *Operation) error {
		if out, err = l.s.Get(ctx, o, ""); err == nil {
			o.recordAnswer(codeOK, out)
		}
		return err
	})
	return out, err
}

// Scale returns the Scale of the object whose scale subresource p names, by a consistent read.
func (l *Loopback) Scale(ctx context.Context, p Path) (out *autoscalingv1.Scale, err error) {
	err = l.call(ctx, "get", p, func(ctx context.Context, o *Operation) error {
		if out, err = l.s.GetScale(ctx, o, ""); err == nil {
			o.recordAnswerOther(codeOK, out)
		}
		return err
	})
	return out, err
}

// Rescale replaces the Scale of the object whose scale subresource p names.
func (l *Loopback) Rescale(ctx context.Context, p Path, sc *autoscalingv1.Scale) error {
	return l.call(ctx, "update", p, func(ctx context.Context, o *Operation) error {
		o.recordBody(sc)
		out, err := l.s.Scale(ctx, o, l.s.ReplacedScale(o, sc))
		if err == nil {
			o.recordAnswerOther(codeOK, out)
		}
		return err
	})
}

// List returns the objects of a collection by a consistent read, in key order. Unlike a list over HTTP it includes
// objects that can't be decoded (storage.Object.Err), as they exist.
func (l *Loopback) List(ctx context.Context, p Path) (out []*storage.Object, err error) {
	err = l.call(ctx, "list", p, func(ctx context.Context, o *Operation) error {
		if err := l.s.Fresh(ctx); err != nil {
			return err
		}
		snap, err := l.s.Cache.Snapshot(o.Resource.Collection, 0)
		if err != nil {
			return err
		}
		snap.Ascend(o.Target.Key(l.s.Root), "", func(item *storage.Object) bool {
			out = append(out, item)
			return true
		})
		return nil
	})
	return out, err
}

// Verify returns nil if a listed object can be decoded as its kind, else the reason.
func (l *Loopback) Verify(r *resources.Resource, o *storage.Object) error { return l.s.Readable(r, o) }

// Fresh waits until the cache shows every write that was acknowledged before the call.
func (l *Loopback) Fresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.s.Timeout)
	defer cancel()
	if err := l.s.Fresh(ctx); err != nil {
		return status.Error(err)
	}
	return nil
}

// Create stores a new object of the stored version.
func (l *Loopback) Create(ctx context.Context, p Path, obj runtime.Object) (out *storage.Object, err error) {
	err = l.call(ctx, "create", p, func(ctx context.Context, o *Operation) error {
		in, err := o.own(obj)
		if err != nil {
			return err
		}
		o.recordBody(in)
		if out, err = l.s.Create(ctx, o, in); err == nil {
			o.recordAnswer(codeCreated, out)
		}
		return err
	})
	return out, err
}

// Update replaces an object or, with a subresource, the fields that the subresource may change.
func (l *Loopback) Update(ctx context.Context, p Path, obj runtime.Object) (out *storage.Object, err error) {
	err = l.call(ctx, "update", p, func(ctx context.Context, o *Operation) error {
		in, err := o.own(obj)
		if err != nil {
			return err
		}
		if err := o.CheckName(in); err != nil {
			return err
		}
		o.recordBody(in)
		var created bool
		if out, created, err = l.s.ReplaceOrCreate(ctx, o, in); err != nil {
			return err
		}
		code := codeOK
		if created {
			code = codeCreated
		}
		o.recordAnswer(code, out)
		return nil
	})
	return out, err
}

// own returns a defaulted copy of the caller's object.
func (o *Operation) own(obj runtime.Object) (Object, error) {
	in, ok := obj.DeepCopyObject().(Object)
	if !ok {
		return nil, status.BadRequest("%T is not an API object", obj)
	}
	if !o.Resource.Custom {
		in.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	}
	if d := o.Resource.Strategy.Default; d != nil {
		d(in)
	}
	return in, nil
}

// Patch applies a patch.
func (l *Loopback) Patch(ctx context.Context, p Path, kind types.PatchType, doc []byte) (
	out *storage.Object, err error) {
	err = l.call(ctx, "patch", p, func(ctx context.Context, o *Operation) error {
		o.Audit.Patch(doc)
		doc := patch.Patch{Kind: kind, Bytes: doc, Strictness: metav1.FieldValidationIgnore, Warn: o.Warn.Add}
		out, err = l.update(ctx, o, func(old Object) (Object, error) { return o.Patched(old, doc) })
		return err
	})
	return out, err
}

// Apply applies a document to an existing object by server-side apply with force.
func (l *Loopback) Apply(ctx context.Context, p Path, document []byte) (out *storage.Object, err error) {
	err = l.call(ctx, "patch", p, func(ctx context.Context, o *Operation) error {
		o.Tracked = true
		o.Audit.Patch(document)
		doc := patch.Patch{Kind: types.ApplyPatchType, Bytes: document,
			Strictness: metav1.FieldValidationIgnore, Force: true, Warn: o.Warn.Add}
		out, err = l.update(ctx, o, func(old Object) (Object, error) { return l.s.Applied(o, old, doc) })
		return err
	})
	return out, err
}

// update changes an object and records the answer.
func (l *Loopback) update(ctx context.Context, o *Operation, c change) (*storage.Object, error) {
	out, err := l.s.Update(ctx, o, c)
	if err == nil {
		o.recordAnswer(codeOK, out)
	}
	return out, err
}

// Change updates an object with a function of its newest stored state, which is called again after each conflict.
func (l *Loopback) Change(ctx context.Context, p Path, change func(old runtime.Object) (runtime.Object, error)) (
	out *storage.Object, err error) {
	err = l.call(ctx, "update", p, func(ctx context.Context, o *Operation) error {
		out, err = l.update(ctx, o, func(old Object) (Object, error) {
			next, err := change(old)
			if err != nil {
				return nil, err
			}
			o.recordBody(next)
			return next.(Object), nil
		})
		return err
	})
	return out, err
}

// Link is Change for owners and finalizers only. The kind's validation of other fields is skipped, so an object that
// was stored under older rules, or by the schema of another version, can be collected.
func (l *Loopback) Link(ctx context.Context, p Path, change func(old metav1.Object) error) (
	out *storage.Object, err error) {
	err = l.call(ctx, "update", p, func(ctx context.Context, o *Operation) error {
		o.links = true
		out, err = l.update(ctx, o, func(old Object) (Object, error) {
			err := change(old)
			// An empty list is dropped, as in writes of clients.
			if coerce := codec.CoercionOf(o.Resource); coerce != nil && err == nil {
				_, err = coerce(old)
			}
			if err == nil {
				o.recordBody(old)
			}
			return old, err
		})
		return err
	})
	return out, err
}

// Post handles a POST for which the kind or the subresource of p has a hook. It may change the body.
func (l *Loopback) Post(ctx context.Context, p Path, body runtime.Object) (out runtime.Object, err error) {
	err = l.call(ctx, "create", p, func(ctx context.Context, o *Operation) error {
		o.recordOther(body)
		if out, err = l.s.Post(ctx, o, body, nil); err == nil {
			o.recordAnswerOther(codeCreated, out)
		}
		return err
	})
	return out, err
}

// Delete deletes an object if the guards hold when the write commits; a failed guard is a conflict. It returns what is
// left, nil if the object was removed.
func (l *Loopback) Delete(ctx context.Context, p Path, opts *metav1.DeleteOptions, guards ...storage.Guard) (
	left *storage.Object, err error) {
	err = l.call(ctx, "delete", p, func(ctx context.Context, o *Operation) error {
		o.guards, o.Options = guards, opts
		o.recordOptions(opts)
		d, err := l.s.Delete(ctx, o, opts)
		if err != nil {
			return err
		}
		if o.recordDeletion(d); !d.Removed {
			left = d.Object
		}
		return nil
	})
	return left, err
}

// DeleteCollection deletes every object of a collection. The audit log has a Status as the answer, as a client gets if
// the list of the objects takes too much memory.
func (l *Loopback) DeleteCollection(ctx context.Context, p Path, opts *metav1.DeleteOptions) error {
	return l.call(ctx, "deletecollection", p, func(ctx context.Context, o *Operation) error {
		o.recordOptions(opts)
		_, _, err := l.s.DeleteCollection(ctx, o, &metainternal.ListOptions{}, opts, l.s.ListAll)
		if err == nil {
			o.recordAnswerOther(codeOK, nil)
		}
		return err
	})
}
