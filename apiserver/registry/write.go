package registry

import (
	"context"
	"errors"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// noPlugins admits everything. It is for writes that are part of an admitted request, such as the deletion of an
// evicted pod (L-19).
var noPlugins = &admission.Steps{}

// reportFailure tells the plugins about a failed write, unless the outcome of the commit is unknown.
func reportFailure(a *admission.Attributes, err error) {
	if err != nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Failed()
	}
}

// put commits the transaction, with the value of obj, and returns the stored object. decoded is that object at any
// revision. If the object is too large, put retries without its managedFields, unless manager is empty: then the
// request itself sets managedFields (0-15).
func (s *Registry) put(ctx context.Context, res *resources.Resource, t storage.Txn, obj Object, manager string,
	decoded *storage.Object) (*storage.Object, error) {
	rev, err := s.commit(ctx, res, t)
	if errors.Is(err, storage.ErrTooLarge) && manager != "" && len(obj.GetManagedFields()) > 0 {
		obj.SetManagedFields(nil)
		if t.Value, err = encode(res, obj); err == nil {
			decoded = s.decoded(res, t.Key, t.Value, t.Expect)
			rev, err = s.commit(ctx, res, t)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.Cache.Share(s.Decoder.Revise(decoded, rev)), nil
}

// decoded returns the object with a value that this process has encoded, so it is known to be readable.
func (s *Registry) decoded(res *resources.Resource, key string, value []byte, rev int64) *storage.Object {
	out := s.Decoder.Decode(storage.Record{Key: key, Value: value, ModRevision: rev})
	if out.Err == nil && !res.Custom { // the schema may change a custom resource when it is read
		out.SetVerified(res.Verified)
	}
	return out
}

// commit commits to the store. If other requests depend on the object (Governs), it returns when they see the write.
func (s *Registry) commit(ctx context.Context, res *resources.Resource, t storage.Txn) (int64, error) {
	if res.Expires {
		t.TTL = s.EventTTL
	}
	rev, err := s.Store.Commit(ctx, t)
	if err == nil && res.Governs {
		if e := s.Cache.Wait(ctx, rev); e != nil {
			s.Log.Debug("failed to wait until the cache has a write on which other requests depend", "key", t.Key, "err", e)
		}
	}
	return rev, err
}

// retry returns the current object after a conflict, or nil if it was removed. It returns any other error.
func (s *Registry) retry(err error) (*storage.Object, error) {
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) || conflict.Guard != nil {
		return nil, err
	}
	if conflict.Current.ModRevision == 0 {
		return nil, nil
	}
	return s.readable(s.Decoder.Decode(conflict.Current))
}

// guardFailed reports whether a write failed because one of the guards did not hold.
func guardFailed(err error, guards []storage.Guard) bool {
	var conflict *storage.ConflictError
	return errors.As(err, &conflict) && conflict.Guard != nil &&
		slices.ContainsFunc(guards, func(g storage.Guard) bool { return g.Key == conflict.Guard.Key })
}

// candidate is a complete object for one attempt to store it.
type candidate struct {
	obj Object
	// guards are compared in the transaction of the write.
	guards []storage.Guard
	// validated is true if webhooks and policies have validated the same object in an earlier attempt.
	validated bool
}

// store commits a create or an update of a complete object.
type store func(candidate) (*storage.Object, error)

// errPanicked is the error that a hook's Finish gets if the write panicked.
var errPanicked = errors.New("the write panicked")

// withHooks calls commit between the begin and finish hooks of the kind. Writes of a subresource have no hooks. old is
// nil on create.
func (s *Registry) withHooks(ctx context.Context, r *Request, c candidate, old Object, commit store) (
	*storage.Object, error) {
	if r.Resource.Hooks.Begin == nil || r.Subresource != nil {
		return commit(c)
	}
	b, err := r.Resource.Hooks.Begin(ctx, &write{s, r}, c.obj, old)
	if err != nil {
		return nil, err
	}
	outcome := errPanicked
	if b.Finish != nil {
		defer func() { b.Finish(outcome) }()
	}
	out, err := s.storeFilled(ctx, r, c, b.Fill, commit)
	outcome = err
	return out, err
}

// fill completes an object for one attempt to store it (entry.Begun).
type fill func(context.Context, entry.Object) ([]storage.Guard, error)

// storeFilled calls fill, if it is set, on a copy of the object, and commits the copy. It repeats both while a guard of
// fill fails. The request's deadline limits the attempts. If webhooks may be called for the object, a retry keeps the
// filled-in values while they are free, and does not call the webhooks again. Otherwise a webhook that is slow, or that
// causes such writes itself, would be called until the deadline.
func (s *Registry) storeFilled(ctx context.Context, r *Request, c candidate, fill fill, commit store) (
	*storage.Object, error) {
	if fill == nil {
		return commit(c)
	}
	var last Object
	for {
		next, err := fillCopy(ctx, c.obj, last, fill)
		if err != nil {
			return nil, err
		}
		guards := next.guards
		next.guards = slices.Concat(c.guards, guards)
		if s.mayCall(r.Target) {
			last = next.obj.DeepCopyObject().(Object)
		}
		out, err := commit(next)
		if !guardFailed(err, guards) {
			return out, err
		}
	}
}

// fillCopy returns a filled copy of the object with its guards. The copy is equal to last, if that can still be stored.
func fillCopy(ctx context.Context, obj, last Object, fill fill) (c candidate, err error) {
	if last != nil {
		c.obj = last.DeepCopyObject().(Object)
		if c.guards, err = fill(ctx, c.obj); err == nil && apiequality.Semantic.DeepEqual(c.obj, last) {
			c.validated = true
			return c, nil
		}
	}
	c.obj = obj.DeepCopyObject().(Object)
	c.guards, err = fill(ctx, c.obj)
	return c, err
}

// mayCall reports whether a write may call webhooks.
func (s *Registry) mayCall(t Target) bool {
	return s.concerned(t, admission.Create) || s.concerned(t, admission.Update)
}

// write implements entry.Write.
type write struct {
	s *Registry
	r *Request
}

func (w *write) DryRun() bool            { return w.r.DryRun }
func (w *write) Ranges() allocate.Ranges { return w.s.Ranges }

func (w *write) Unreadable(key string, err error, then string) { w.s.Unreadable(key, err, then) }

// Turn implements entry.Write. A write that may call webhooks takes no turn, because one call would delay all other
// writes, and the webhook may cause such a write itself. Then only the guards prevent conflicts.
func (w *write) Turn(ctx context.Context) (release func(), err error) {
	if w.s.mayCall(w.r.Target) {
		return func() {}, nil
	}
	select {
	case w.s.Turn <- struct{}{}:
		return func() { <-w.s.Turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Fresh implements entry.Write.
func (w *write) Fresh(ctx context.Context) error { return w.s.Fresh(ctx) }

// Scan implements entry.Write.
func (w *write) Scan(r schema.GroupVersionResource, fields []string, yield func(*storage.Object, []string)) (
	storage.Guard, error) {
	res := w.s.Types.Lookup(r.Group, r.Version, r.Resource)
	snap, err := w.s.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return storage.Guard{}, err
	}
	places, values := make([]int, len(fields)), make([]string, len(fields))
	for i, name := range fields {
		places[i] = slices.Index(res.FieldNames, name)
	}
	for item := range snap.Ascend("", "") {
		for i, place := range places {
			if values[i] = ""; item.Err == nil {
				values[i] = item.Fields[place]
			}
		}
		yield(item, values)
	}
	return storage.Guard{Key: w.s.Root + "/" + res.Collection + "/", ModRevision: snap.Revision(), Below: true}, nil
}
