package registry

import (
	"bytes"
	"context"
	"errors"
	"strconv"

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

// change returns the new state for a stored object. Both are in the stored version. It may modify and return old.
type change func(old Object) (Object, error)

// Update applies a change to the newest state of an object and retries after a conflict (B-56). If the change sets a
// resourceVersion, it is compared with each state, so a client that sends one gets the conflict. The request's deadline
// bounds the attempts.
func (s *Registry) Update(ctx context.Context, o *Operation, c change) (*storage.Object, error) {
	cur, err := s.Load(ctx, o.Key(s.Root))
	for err == nil {
		if cur == nil {
			return nil, o.NotFound()
		}
		var out *storage.Object
		if out, err = s.updateOnce(ctx, o, cur, c); err == nil {
			return out, nil
		}
		cur, err = s.retry(err)
	}
	return nil, err
}

// retry returns the current object after a conflict, nil if it was removed, and any error that is not a conflict.
func (s *Registry) retry(err error) (*storage.Object, error) {
	var lost *storage.ConflictError
	if !errors.As(err, &lost) || lost.Guard != nil {
		return nil, err
	}
	if lost.Current.ModRevision == 0 {
		return nil, nil
	}
	return s.readable(s.Decoder.Decode(lost.Current))
}

func (s *Registry) updateOnce(ctx context.Context, o *Operation, cur *storage.Object, c change) (
	*storage.Object, error) {
	old, err := o.Decode(cur)
	if err != nil {
		return nil, err
	}
	obj, err := c(old.DeepCopyObject().(Object))
	if err != nil {
		return nil, err
	}
	if o.unchecked {
		return s.replace(ctx, o, cur, obj, old)
	}
	if err := fieldmanager.CheckEntries(obj); err != nil {
		return nil, err
	}
	if !o.Tracked {
		s.Fields.Update(o.Resource, o.subName(), old, obj, o.Manager)
	}
	if err := fieldmanager.Guard(obj, o.Warn.Add, func() error {
		return o.admit(ctx, s.Admission.Admit, o.Attributes(admission.Update, obj, old))
	}); err != nil {
		return nil, err
	}
	if o.shape != nil {
		if err := o.shape.Check(obj); err != nil {
			return nil, err
		}
	}
	DedupOwners(obj, true, o.Warn.Add)
	if err := o.checkRevision(obj, cur); err != nil {
		return nil, err
	}
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil {
		return nil, err
	}
	return s.begun(ctx, o, obj, old, func(o *Operation, obj Object) (*storage.Object, error) {
		return s.storeChanged(ctx, o, cur, obj, old)
	})
}

// storeChanged prepares, validates, admits and commits a new state.
func (s *Registry) storeChanged(ctx context.Context, o *Operation, cur *storage.Object, obj, old Object) (
	out *storage.Object, err error) {
	obj.SetGeneration(old.GetGeneration())
	PrepareUpdate(o.Resource, o.Subresource, obj, old)
	Inherit(obj, old)
	if err := o.ValidateChange(obj, old); err != nil {
		return nil, err
	}
	if errs := o.Subresource.Denied(obj, old, o.User, s.Authorizer.Authorize); len(errs) > 0 {
		return nil, invalidObject(o.Resource, obj, errs)
	}
	o.warnOf(obj, old)
	a := o.Attributes(admission.Update, obj, old)
	defer func() { undone(a, err) }()
	if err := o.admit(ctx, s.Admission.Validate, a); err != nil {
		return nil, err
	}
	return s.replace(ctx, o, cur, obj, old)
}

// admit runs a phase of admission, unless the request was admitted as a whole.
func (o *Operation) admit(
	ctx context.Context, phase func(context.Context, *admission.Attributes) error, a *admission.Attributes,
) error {
	if o.admitted {
		return nil
	}
	return phase(ctx, a)
}

// checkRevision compares the resourceVersion of the new state with the stored one (B-06 to B-08).
func (o *Operation) checkRevision(obj Object, cur *storage.Object) error {
	var want uint64
	if rv := obj.GetResourceVersion(); rv != "" {
		n, err := strconv.ParseUint(rv, 10, 64)
		if err != nil {
			return err // B-07
		}
		want = n
	}
	switch {
	case want == 0 && o.Resource.Strategy.Conditional:
		gk := schema.GroupKind{Group: o.Resource.Group, Kind: o.Resource.Plural}
		return invalid.New(gk, o.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), want, "must be specified for an update")})
	case want != 0 && want != uint64(cur.Revision):
		return o.Conflict(errModified)
	}
	obj.SetResourceVersion(strconv.FormatInt(cur.Revision, 10))
	return nil
}

// replace commits an update. It removes the object if the update removed the last finalizer (B-20), and writes nothing
// if the object did not change (B-17), unless it would be encrypted otherwise (AS pkg/storage/etcd3/store.go:
// GuaranteedUpdate).
func (s *Registry) replace(ctx context.Context, o *Operation, cur *storage.Object, obj, old Object) (
	*storage.Object, error) {
	fieldmanager.KeepTimes(obj, old) // B-17
	verdict := finalizers.Update(lifecycleOf(o.Resource, old), lifecycleOf(o.Resource, obj), s.Now())
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := o.encode(obj)
	if err != nil {
		return nil, err
	}
	out := s.decoded(o, cur.Key, value, cur.Revision)
	unchanged := out.Err == nil && verdict.Step == finalizers.Store && bytes.Equal(out.JSON, cur.JSON) && !cur.Stale
	if o.DryRun || unchanged {
		return out, out.Err
	}
	if verdict.Step == finalizers.Store {
		return s.put(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: value}, obj, out)
	}
	return s.release(ctx, o, cur, value)
}

// release commits an update that removes the last finalizer of an object that is being deleted. It returns the object
// as submitted, with its previous resourceVersion (B-20).
func (s *Registry) release(ctx context.Context, o *Operation, cur *storage.Object, value []byte) (
	*storage.Object, error) {
	rev, err := s.Commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: o.guards})
	if err == nil {
		s.Removed(o, cur, rev)
	}
	var lost *storage.ConflictError
	if errors.As(err, &lost) && lost.Guard == nil && lost.Current.ModRevision == 0 {
		err = nil // another request has removed the object
	}
	return s.decoded(o, cur.Key, value, cur.Revision), err
}
