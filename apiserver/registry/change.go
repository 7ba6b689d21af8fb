package registry

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// errModified is the cause of a conflict (B-08).
var errModified = errors.New(
	"the object has been modified; please apply your changes to the latest version and try again")

// Change is a request that changes a stored object.
type Change struct {
	*Request
	// Manager is the field manager of the change. It is empty if the new state already has its managedFields (apply,
	// scale), and if the change is not recorded in them (binding).
	Manager string
	// Options are the options of the request: UpdateOptions or PatchOptions, or nil. The options that webhooks and
	// policies get are derived from them.
	Options runtime.Object
}

// rules are the checks that a change must pass before it is stored.
type rules struct {
	// plugins are the admission plugins: the server's, or noPlugins.
	plugins  *admission.Steps
	validate func(t Target, obj, old Object) field.ErrorList
	// shape converts the object to the form that webhooks and policies get. If it is nil, they get the object itself.
	shape admission.Shape
}

// newState returns the new state for a stored object. Both are in the stored version. It may modify and return old.
type newState func(old Object) (Object, error)

// Update applies a change to the newest state of an object, and retries after a conflict (B-56). A resourceVersion that
// the change sets is compared with each state, so a client that sends one gets the conflict. The request's deadline
// limits the attempts.
func (s *Registry) Update(ctx context.Context, c *Change, next newState) (*storage.Object, error) {
	return s.update(ctx, c, rules{plugins: &s.Admission, validate: validateChange}, next)
}

// update is Update with other rules.
func (s *Registry) update(ctx context.Context, c *Change, by rules, next newState) (*storage.Object, error) {
	return s.onNewest(ctx, c.Target, func(cur *storage.Object) (*storage.Object, error) {
		return s.updateOnce(ctx, c, by, cur, next)
	})
}

// rewrite is Update without the kind's strategy, validation and admission.
func (s *Registry) rewrite(ctx context.Context, r *Request, next newState) (*storage.Object, error) {
	c := &Change{Request: r}
	return s.onNewest(ctx, c.Target, func(cur *storage.Object) (*storage.Object, error) {
		old, err := Decode(c.Resource, cur)
		if err != nil {
			return nil, err
		}
		obj, err := next(old.DeepCopyObject().(Object))
		if err != nil {
			return nil, err
		}
		return s.replace(ctx, c, cur, candidate{obj: obj}, old)
	})
}

// onNewest calls do with the newest state of an object, and again after each conflict.
func (s *Registry) onNewest(ctx context.Context, t Target, do func(*storage.Object) (*storage.Object, error)) (
	*storage.Object, error) {
	cur, err := s.Load(ctx, t.Key(s.Root))
	for err == nil {
		if cur == nil {
			return nil, t.NotFound()
		}
		var out *storage.Object
		if out, err = do(cur); err == nil {
			return out, nil
		}
		cur, err = s.retry(err)
	}
	return nil, err
}

// updateOnce makes one attempt of Update, on one state of the object.
func (s *Registry) updateOnce(ctx context.Context, c *Change, by rules, cur *storage.Object, next newState) (
	*storage.Object, error) {
	old, err := Decode(c.Resource, cur)
	if err != nil {
		return nil, err
	}
	obj, err := next(old.DeepCopyObject().(Object))
	if err != nil {
		return nil, err
	}
	if err := fieldmanager.CheckEntries(obj); err != nil {
		return nil, err
	}
	if c.Manager != "" {
		s.Fields.Update(c.Resource, c.subName(), old, obj, c.Manager)
	}
	a := c.attributes(admission.Update, obj, old, c.Options)
	a.Shape = by.shape
	if err := fieldmanager.Guard(obj, c.Warn.Add, func() error { return by.plugins.Admit(ctx, a) }); err != nil {
		return nil, err
	}
	if by.shape != nil {
		if err := by.shape.Check(obj); err != nil {
			return nil, err
		}
	}
	DedupOwners(obj, true, c.Warn.Add)
	if err := c.checkRevision(obj, cur); err != nil {
		return nil, err
	}
	if err := c.MatchNamespace(obj); err != nil {
		return nil, err
	}
	return s.withHooks(ctx, c.Request, candidate{obj: obj}, old, func(next candidate) (*storage.Object, error) {
		return s.storeChanged(ctx, c, by, cur, next, old)
	})
}

// checkRevision compares the resourceVersion of the new state with the stored one (B-06 to B-08).
func (c *Change) checkRevision(obj Object, cur *storage.Object) error {
	var want uint64
	if rv := obj.GetResourceVersion(); rv != "" {
		n, err := strconv.ParseUint(rv, 10, 64)
		if err != nil {
			return err // B-07
		}
		want = n
	}
	switch {
	case want == 0 && c.Resource.Strategy.Conditional:
		gk := schema.GroupKind{Group: c.Resource.Group, Kind: c.Resource.Plural}
		return invalid.New(gk, c.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), want, "must be specified for an update")})
	case want != 0 && want != uint64(cur.Revision):
		return c.Conflict(errModified)
	}
	obj.SetResourceVersion(strconv.FormatInt(cur.Revision, 10))
	return nil
}

// storeChanged prepares, validates, admits and commits a new state.
func (s *Registry) storeChanged(ctx context.Context, c *Change, by rules, cur *storage.Object, next candidate,
	old Object) (out *storage.Object, err error) {
	obj := next.obj
	obj.SetGeneration(old.GetGeneration())
	prepareUpdate(c.Resource, c.Subresource, obj, old)
	inherit(obj, old)
	if err := invalidObject(c.Resource, obj, by.validate(c.Target, obj, old)); err != nil {
		return nil, err
	}
	if errs := c.Subresource.Denied(obj, old, c.User, s.Authorizer.Authorize); len(errs) > 0 {
		return nil, invalidObject(c.Resource, obj, errs)
	}
	c.warnOf(obj, old)
	a := c.attributes(admission.Update, obj, old, c.Options)
	a.Shape, a.Validated = by.shape, next.validated
	defer func() { reportFailure(a, err) }()
	if err := by.plugins.Validate(ctx, a); err != nil {
		return nil, err
	}
	return s.replace(ctx, c, cur, next, old)
}

// replace commits an update. If the update removed the last finalizer, it removes the object (B-20). If the object did
// not change, it writes nothing (B-17), unless the stored value must be encrypted again (AS pkg/storage/etcd3/store.go:
// GuaranteedUpdate).
func (s *Registry) replace(ctx context.Context, c *Change, cur *storage.Object, next candidate, old Object) (
	*storage.Object, error) {
	obj := next.obj
	fieldmanager.KeepTimes(obj, old) // B-17
	step := finalizers.Update(lifecycleOf(c.Resource, old), lifecycleOf(c.Resource, obj))
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := encode(c.Resource, obj)
	if err != nil {
		return nil, err
	}
	out := s.decoded(c.Resource, cur.Key, value, cur.Revision)
	unchanged := out.Err == nil && step == finalizers.Store && bytes.Equal(out.JSON, cur.JSON) && !cur.Stale
	if c.DryRun || unchanged {
		return out, out.Err
	}
	t := storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: next.guards}
	if step == finalizers.Store {
		t.Value = value
		return s.put(ctx, c.Resource, t, obj, c.Manager, out)
	}
	return out, s.release(ctx, c.Request, cur, t)
}

// release commits an update that removes the last finalizer of an object that is being deleted. The client gets the
// object as submitted, with its previous resourceVersion (B-20).
func (s *Registry) release(ctx context.Context, r *Request, cur *storage.Object, t storage.Txn) error {
	rev, err := s.commit(ctx, r.Resource, t)
	if err == nil {
		s.removed(r, cur, rev, newTrailRequest(r, cur, nil))
	}
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) && conflict.Current.ModRevision == 0 {
		return nil // another request has removed the object
	}
	return err
}
