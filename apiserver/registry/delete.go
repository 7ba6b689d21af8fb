package registry

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// deletion is the result of a DELETE.
type deletion struct {
	// Object is what is left, or the object that was removed, at the revision of its removal.
	Object   *storage.Object
	Removed  bool
	Accepted bool
	// marked: the object was stored with a deletionTimestamp (C-32).
	marked bool
}

// RemovedStatus is the response for kinds that don't return the removed object (C-62).
func (o *Operation) RemovedStatus(obj *storage.Object) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: obj.Meta.Name, Group: o.Resource.Group, Kind: o.Resource.Plural,
			UID: types.UID(obj.Meta.UID)},
	}
}

// WarnOfPolicy adds a warning if the default propagation policy of the kind is unexpected (C-24).
func (o *Operation) WarnOfPolicy(d *metav1.DeleteOptions) {
	if w := o.Resource.Delete.Warning; w != "" && d.OrphanDependents == nil && d.PropagationPolicy == nil {
		o.Warn.Add(w)
	}
}

// Delete deletes an object by its newest state and retries after a conflict.
func (s *Registry) Delete(ctx context.Context, o *Operation, opts *metav1.DeleteOptions) (deletion, error) {
	if reject := o.Resource.Delete.Reject; reject != nil {
		if why := reject(o.Name); why != "" { // C-67
			return deletion{}, apierrors.NewForbidden(o.Resource.GroupResource(), o.Name, errors.New(why))
		}
	}
	o.deletes = opts
	var marked *storage.Object
	cur, err := s.Load(ctx, o.Key(s.Root))
	for err == nil {
		if cur == nil {
			return deletion{}, o.NotFound() // C-64
		}
		var d deletion
		if d, err = s.deleteOnce(ctx, o, cur, opts); err == nil {
			s.begin(ctx, o, d)
			return d, nil
		}
		if d.marked {
			marked = d.Object
			o, opts = o.finishing(opts, marked)
		}
		if cur, err = s.retry(err); err == nil && marked != nil && (cur == nil || cur.Meta.UID != marked.Meta.UID) {
			// Another client has removed the object after this one has marked it
			// (AS registry/generic/registry/store.go: Delete, ignoreNotFound; kubernetes#19403).
			return deletion{Object: marked, Removed: true}, nil
		}
	}
	var lost *storage.ConflictError
	if errors.As(err, &lost) {
		err = o.Conflict(lost)
	}
	return deletion{}, err
}

// begin stores the first status that the kind's controller would set. A failure is only logged: the controller sees the
// deletion itself.
func (s *Registry) begin(ctx context.Context, o *Operation, d deletion) {
	begin := o.Resource.Delete.Begin
	if begin == nil || d.Removed || o.DryRun {
		return
	}
	p := Path{Resource: o.Resource, Subresource: "status", Namespace: o.Namespace, Name: o.Name}
	client := s.Loopback(authentication.Loopback, "kube-apiserver")
	_, err := client.Change(ctx, p, func(obj runtime.Object) (runtime.Object, error) {
		if string(obj.(Object).GetUID()) == d.Object.Meta.UID {
			begin(obj)
		}
		return obj, nil
	})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Log.Debug("failed to store the first status of a deletion", "key", o.Key(s.Root), "err", err)
	}
}

// deleteOnce decides on one state of the object and carries out the verdict.
func (s *Registry) deleteOnce(ctx context.Context, o *Operation, cur *storage.Object, opts *metav1.DeleteOptions) (
	deletion, error) {
	state, kind, old, err := s.deletionState(o, cur)
	if err != nil {
		return deletion{}, err
	}
	verdict := finalizers.Delete(state, kind, optionsOf(opts), s.Now())
	if r := verdict.Conflict; r != nil { // before admission (AS store.go:Delete, C-13)
		return deletion{}, o.preconditionFailed(r)
	}
	a := o.Attributes(admission.Delete, nil, nil)
	a.Stored = func() (runtime.Object, error) {
		if old != nil {
			return old, nil
		}
		var err error
		old, err = o.Decode(cur)
		return old, err
	}
	if err := o.admit(ctx, s.Admission.Admit, a); err != nil {
		return deletion{}, err
	}
	if err := o.admit(ctx, s.Admission.Validate, a); err != nil { // C-66
		return deletion{}, err
	}
	d := deletion{Object: cur, Accepted: verdict.Accepted}
	if verdict.Step == finalizers.Store || verdict.Step == finalizers.StoreThenRemove {
		if old == nil {
			if old, err = o.Decode(cur); err != nil {
				return deletion{}, err
			}
		}
		if d.Object, err = s.mark(ctx, o, cur, old, verdict); err != nil {
			return deletion{}, err
		}
	}
	if verdict.Step == finalizers.StoreThenRemove {
		d.marked = true
		o, _ = o.finishing(opts, d.Object)
	}
	if verdict.Step == finalizers.Remove || verdict.Step == finalizers.StoreThenRemove {
		var removed *storage.Object
		if removed, err = s.remove(ctx, o, d.Object); err == nil {
			d.Object, d.Removed = removed, true
		}
	}
	return d, err
}

// deletionState returns the object's state and kind, on which finalizers.Delete decides. The returned Object is nil if
// its metadata is enough for the decision and its value is known to be readable: a cascade deletes thousands of objects
// that need not be decoded.
func (s *Registry) deletionState(
	o *Operation, cur *storage.Object,
) (finalizers.Object, finalizers.Kind, Object, error) {
	kind := finalizers.Kind{Policy: o.Resource.Delete.Policy}
	d := &o.Resource.Delete
	plain := d.Kind == nil && d.SpecFinalizers == nil
	if o.Resource.Custom { // only a conversion may fail
		plain = o.Resource.FromStored == nil
	}
	if plain && cur.VerifiedBy(o.Resource.Verified) {
		m := &cur.Meta
		return finalizers.Object{UID: m.UID, ResourceVersion: strconv.FormatInt(cur.Revision, 10),
			Generation: m.Generation, Finalizers: m.Finalizers, Deletion: m.Deletion,
			GracePeriodSeconds: m.GracePeriodSeconds}, kind, nil, nil
	}
	old, err := o.Decode(cur)
	if err != nil {
		return finalizers.Object{}, kind, nil, err
	}
	if o.Resource.Delete.Kind != nil {
		kind = o.Resource.Delete.Kind(old)
	}
	return lifecycleOf(o.Resource, old), kind, old, nil
}

// finishing returns the rest of a DELETE after the object was marked. Preconditions and owners were compared before and
// the mark can't be undone (C-14, C-90). The rest must not stop, as nothing else removes the object, and must not
// delete a new object of the same name.
func (o *Operation) finishing(opts *metav1.DeleteOptions, marked *storage.Object) (*Operation, *metav1.DeleteOptions) {
	rest, opts := *o, opts.DeepCopy()
	rest.guards = nil
	uid := types.UID(marked.Meta.UID)
	opts.Preconditions = &metav1.Preconditions{UID: &uid}
	return &rest, opts
}

// mark stores an object whose deletion can't finish yet (C-32, C-40).
func (s *Registry) mark(ctx context.Context, o *Operation, cur *storage.Object, obj Object, v finalizers.Verdict) (
	*storage.Object, error) {
	imprint(obj, v)
	if v.MarkTerminating && o.Resource.Delete.Mark != nil {
		o.Resource.Delete.Mark(obj)
	}
	obj.SetResourceVersion("")
	value, err := o.encode(obj)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return s.decoded(o, cur.Key, value, cur.Revision), nil
	}
	rev, err := s.Commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: value,
		Guards: o.guards, TTL: s.TTL(o)})
	if err != nil {
		return nil, err
	}
	s.marked(o, cur, v, rev)
	return s.Cache.Share(s.decoded(o, cur.Key, value, rev)), nil
}

// remove deletes the key at the revision on which the decision was made (C-41, C-63).
func (s *Registry) remove(ctx context.Context, o *Operation, cur *storage.Object) (*storage.Object, error) {
	if o.DryRun {
		return cur, nil
	}
	rev, err := s.Commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: o.guards, TTL: s.TTL(o)})
	if err != nil {
		return nil, err
	}
	s.Removed(o, cur, rev)
	return s.Decoder.Revise(cur, rev), nil
}

// preconditionFailed is the error for a precondition that did not hold (C-10, C-11, C-13).
func (o *Operation) preconditionFailed(r *finalizers.Conflict) error {
	gr := schema.GroupResource{Group: o.Resource.Group, Resource: o.Resource.Kind}
	if r.ByResource {
		gr = o.Resource.GroupResource()
	}
	return apierrors.NewConflict(gr, o.Name, errors.New(r.Cause()))
}

func optionsOf(o *metav1.DeleteOptions) finalizers.Options {
	out := finalizers.Options{GracePeriodSeconds: o.GracePeriodSeconds, OrphanDependents: o.OrphanDependents}
	if o.PropagationPolicy != nil {
		out.PropagationPolicy = string(*o.PropagationPolicy)
	}
	if p := o.Preconditions; p != nil {
		if p.UID != nil {
			uid := string(*p.UID)
			out.UID = &uid
		}
		out.ResourceVersion = p.ResourceVersion
	}
	return out
}
