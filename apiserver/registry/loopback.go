package registry

import (
	"cmp"
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

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
)

// Loopback is the in-process client of one user. Its requests are handled like those over HTTP, with the same
// admission, validation, decisions and metrics, but they are not encoded and decoded.
type Loopback struct {
	s    *Registry
	user authorization.User
	// manager is the field manager of the client's writes.
	manager string
	// reason is the client's reason for removing objects. owners are the objects of the reason. For OwnerAbsent,
	// OwnerDeleted and OwnerWaits, the removed object's other owners are recorded after them.
	reason trail.Reason
	owners []trail.Object
}

// Loopback returns a client of the user. manager is its field manager, which must not be empty.
func (s *Registry) Loopback(u authorization.User, manager string) *Loopback {
	return &Loopback{s: s, user: u, manager: manager, reason: trail.ControllerDecision}
}

// AsServer returns the client of the server itself, which may do everything.
func (s *Registry) AsServer(manager string) *Loopback {
	return s.Loopback(authorization.Loopback, manager)
}

// Because returns a client of the same user that records the reason of its deletions and removals of finalizers.
func (l *Loopback) Because(reason trail.Reason, owners []trail.Object) *Loopback {
	out := *l
	out.reason, out.owners = reason, owners
	return &out
}

// Path names an object or, if Name is empty, a collection.
type Path struct {
	Resource    *resources.Resource
	Subresource string
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace, Name string
	// created is the name of an object that a request creates in the collection, for injected faults.
	created string
}

// User returns the user of the client.
func (l *Loopback) User() authorization.User { return l.user }

// Types returns the table of served resources.
func (l *Loopback) Types() *resources.Types { return l.s.Types }

// Key returns the key of an object in the store.
func (l *Loopback) Key(r *resources.Resource, namespace, name string) string {
	return Target{Resource: r, Namespace: namespace, Name: name}.Key(l.s.Root)
}

// call runs one request with a deadline, counts it, records it, and converts its error to a Status error.
func (l *Loopback) call(ctx context.Context, verb string, p Path, do func(context.Context, *Request) (answer, error)) (
	out answer, err error) {
	r := &Request{Target: Target{Resource: p.Resource, Namespace: p.Namespace, Name: p.Name},
		User: l.user, Warn: &invalid.Warnings{}, Sender: ownRequest{l, verb}}
	if p.Subresource != "" {
		if r.Subresource = p.Resource.Subresource(p.Subresource); r.Subresource == nil {
			return out, status.Error(status.ErrNoRoute)
		}
	}
	if !r.Serves(verb) {
		return out, status.Error(status.ErrNoMethod)
	}
	start := time.Now()
	defer func() {
		panicked := recover()
		if panicked != nil {
			l.s.Log.Error("a controller's request panicked",
				"verb", verb, "key", r.Key(l.s.Root), "panic", panicked, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s %s panicked: %v", verb, r.Key(l.s.Root), panicked)
		}
		code := cmp.Or(out.code, codeOK)
		if err != nil {
			err = status.Error(err)
			code = int(status.Of(err).Code)
		}
		seen := Observed{r.Target, verb, code, time.Since(start), panicked != nil}
		l.s.Observe(seen)
		l.log(ctx, seen)
		r.recordEnd(err, panicked)
	}()
	if err := l.record(verb, r); err != nil {
		return out, err
	}
	if !LongRunning(verb) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.s.Timeout)
		defer cancel()
	}
	r.Resource = r.Resource.During(ctx)
	before, after := l.s.Inject(ctx, r, cmp.Or(p.Name, p.created), verb, l.manager)
	if before != nil {
		return out, before
	}
	if out, err = do(ctx, r); err == nil {
		r.recordAnswer(out)
		err = after
	}
	return out, err
}

// log logs a request as filters.Measure does for clients. It does not log lists (methodOf).
func (l *Loopback) log(ctx context.Context, r Observed) {
	method := methodOf(r.Verb)
	if method == "" || !l.s.Log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	l.s.Log.Debug("controller request",
		"method", method, "uri", r.path(), "code", r.Code, "took", r.Took, "user", l.user.Name, "manager", l.manager)
}

// change is call for a request that changes an object.
func (l *Loopback) change(ctx context.Context, verb string, p Path,
	do func(context.Context, *Change) (*storage.Object, error)) (*storage.Object, error) {
	a, err := l.call(ctx, verb, p, func(ctx context.Context, r *Request) (answer, error) {
		out, err := do(ctx, &Change{Request: r, Manager: l.manager})
		return answer{object: out}, err
	})
	return a.object, err
}

// Get returns an object by a consistent read.
func (l *Loopback) Get(ctx context.Context, p Path) (*storage.Object, error) {
	a, err := l.call(ctx, "get", p, func(ctx context.Context, r *Request) (answer, error) {
		out, err := l.s.Get(ctx, r.Target, "")
		return answer{object: out}, err
	})
	return a.object, err
}

// Scale returns the Scale of the object whose scale subresource p names, by a consistent read.
func (l *Loopback) Scale(ctx context.Context, p Path) (out *autoscalingv1.Scale, err error) {
	_, err = l.call(ctx, "get", p, func(ctx context.Context, r *Request) (answer, error) {
		out, err = l.s.GetScale(ctx, r.Target, "")
		return answer{other: out}, err
	})
	return out, err
}

// Rescale replaces the Scale of the object whose scale subresource p names.
func (l *Loopback) Rescale(ctx context.Context, p Path, sc *autoscalingv1.Scale) error {
	_, err := l.call(ctx, "update", p, func(ctx context.Context, r *Request) (answer, error) {
		r.RecordOther(sc)
		out, err := l.s.Scale(ctx, &Change{Request: r}, l.s.ReplacedScale(r, sc, l.manager))
		return answer{other: out}, err
	})
	return err
}

// List returns the objects of a collection by a consistent read, in key order. Unlike a list over HTTP it includes
// objects that can't be decoded (storage.Object.Err).
func (l *Loopback) List(ctx context.Context, p Path) (out []*storage.Object, err error) {
	_, err = l.call(ctx, "list", p, func(ctx context.Context, r *Request) (answer, error) {
		if err := l.s.Fresh(ctx); err != nil {
			return answer{}, err
		}
		return answer{}, l.s.ascend(r.Target, func(item *storage.Object) bool {
			out = append(out, item)
			return true
		})
	})
	return out, err
}

// Verify returns nil if a listed object can be decoded as its kind, otherwise the error.
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

// Create stores a new object, which is in the stored version.
func (l *Loopback) Create(ctx context.Context, p Path, obj runtime.Object) (*storage.Object, error) {
	if m, ok := obj.(metav1.Object); ok {
		p.created = m.GetName()
	}
	a, err := l.call(ctx, "create", p, func(ctx context.Context, r *Request) (answer, error) {
		in, err := ownCopy(r.Resource, obj)
		if err != nil {
			return answer{}, err
		}
		r.RecordBody(in)
		out, err := l.s.Create(ctx, &Creation{Request: r, Manager: l.manager}, in)
		return answer{code: codeCreated, object: out}, err
	})
	return a.object, err
}

// Update replaces an object or, with a subresource, the fields that the subresource may change.
func (l *Loopback) Update(ctx context.Context, p Path, obj runtime.Object) (*storage.Object, error) {
	a, err := l.call(ctx, "update", p, func(ctx context.Context, r *Request) (answer, error) {
		in, err := ownCopy(r.Resource, obj)
		if err == nil {
			err = r.CheckName(in)
		}
		if err != nil {
			return answer{}, err
		}
		r.RecordBody(in)
		out, created, err := l.s.ReplaceOrCreate(ctx, &Creation{Request: r, Manager: l.manager}, in)
		if created {
			return answer{code: codeCreated, object: out}, err
		}
		return answer{object: out}, err
	})
	return a.object, err
}

// ownCopy returns a defaulted copy of the caller's object.
func ownCopy(res *resources.Resource, obj runtime.Object) (Object, error) {
	in, ok := obj.DeepCopyObject().(Object)
	if !ok {
		return nil, status.BadRequest("%T is not an API object", obj)
	}
	if !res.Custom {
		in.GetObjectKind().SetGroupVersionKind(res.Stored)
	}
	if d := res.Strategy.Default; d != nil {
		d(in)
	}
	return in, nil
}

// Patch applies a patch.
func (l *Loopback) Patch(ctx context.Context, p Path, kind types.PatchType, doc []byte) (*storage.Object, error) {
	return l.change(ctx, "patch", p, func(ctx context.Context, c *Change) (*storage.Object, error) {
		c.Audit.Patch(doc)
		return l.s.Patch(ctx, c, codec.Patch{Kind: kind, Bytes: doc, Strictness: metav1.FieldValidationIgnore,
			Warn: c.Warn.Add})
	})
}

// Apply applies a document to an existing object by server-side apply, with force.
func (l *Loopback) Apply(ctx context.Context, p Path, document []byte) (*storage.Object, error) {
	return l.change(ctx, "patch", p, func(ctx context.Context, c *Change) (*storage.Object, error) {
		c.Audit.Patch(document)
		doc := codec.Patch{Kind: types.ApplyPatchType, Bytes: document, Manager: l.manager, Force: true,
			Strictness: metav1.FieldValidationIgnore, Warn: c.Warn.Add}
		c.Manager = ""
		return l.s.Update(ctx, c, func(old Object) (Object, error) { return l.s.applied(c.Target, old, doc) })
	})
}

// Change updates an object. change gets the newest stored state, and is called again after a conflict.
func (l *Loopback) Change(ctx context.Context, p Path, change func(old runtime.Object) (runtime.Object, error)) (
	*storage.Object, error) {
	return l.change(ctx, "update", p, func(ctx context.Context, c *Change) (*storage.Object, error) {
		return l.s.Update(ctx, c, func(old Object) (Object, error) {
			next, err := change(old)
			if err != nil {
				return nil, err
			}
			c.RecordBody(next)
			return next.(Object), nil
		})
	})
}

// Link is Change for owners and finalizers only. It skips the kind's validation of other fields, so that the collector
// can delete objects that are invalid by the current rules or by another version's schema.
func (l *Loopback) Link(ctx context.Context, p Path, change func(old metav1.Object) error) (*storage.Object, error) {
	return l.change(ctx, "update", p, func(ctx context.Context, c *Change) (*storage.Object, error) {
		by := rules{plugins: &l.s.Admission, validate: validateMetaChange}
		return l.s.update(ctx, c, by, func(old Object) (Object, error) {
			err := change(old)
			// An empty list is dropped, as in writes of clients.
			if coerce := codec.CoercionOf(c.Resource); coerce != nil && err == nil {
				_, err = coerce(old)
			}
			if err == nil {
				c.RecordBody(old)
			}
			return old, err
		})
	})
}

// Post handles a POST for which the kind or the subresource of p has a hook. The hook may change the body.
func (l *Loopback) Post(ctx context.Context, p Path, body runtime.Object) (runtime.Object, error) {
	a, err := l.call(ctx, "create", p, func(ctx context.Context, r *Request) (answer, error) {
		r.RecordOther(body)
		out, err := l.s.Post(ctx, r, body, nil)
		return answer{code: codeCreated, other: out}, err
	})
	return a.other, err
}

// Delete deletes an object if the guards hold when the write commits. A failed guard is a conflict. Delete returns the
// object that is left, or nil if it was removed.
func (l *Loopback) Delete(ctx context.Context, p Path, opts *metav1.DeleteOptions, guards ...storage.Guard) (
	left *storage.Object, err error) {
	_, err = l.call(ctx, "delete", p, func(ctx context.Context, r *Request) (answer, error) {
		r.RecordOptions(opts)
		d := &Deletion{Request: r, Options: opts, guards: guards}
		out, err := l.s.Delete(ctx, d)
		if err != nil {
			return answer{}, err
		}
		if !out.Removed {
			left = out.Object
		}
		a := answer{}
		if a.code, a.object = d.Response(out); a.object == nil && r.Audit != nil {
			a.other = r.RemovedStatus(out.Object)
		}
		return a, nil
	})
	return left, err
}

// DeleteCollection deletes every object of a collection. The audit log gets a Status as the response. A client gets the
// same if the list of the objects takes too much memory.
func (l *Loopback) DeleteCollection(ctx context.Context, p Path, opts *metav1.DeleteOptions) error {
	_, err := l.call(ctx, "deletecollection", p, func(ctx context.Context, r *Request) (answer, error) {
		r.RecordOptions(opts)
		d := &Deletion{Request: r, Options: opts}
		_, _, err := l.s.DeleteCollection(ctx, d, &metainternal.ListOptions{}, l.s.ListAll)
		return answer{}, err
	})
	return err
}
