package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
)

// Deletion is a request that deletes an object, or the objects of a collection.
type Deletion struct {
	*Request
	Options *metav1.DeleteOptions
	// guards must hold when the write commits. Only deletions by the garbage collector have guards.
	guards []storage.Guard
	// collection is set if the request deletes the collection of the object.
	collection bool
	// sent is the request for package trail, nil before it is needed. All objects of a collection share it.
	sent *trail.Request
}

// Deleted is the result of a DELETE.
type Deleted struct {
	// Object is the object that is left, or the removed object at the revision of its removal.
	Object   *storage.Object
	Removed  bool
	Accepted bool
}

// Response returns the code of the response and its object, which is nil for a Status (C-60 to C-62).
func (d *Deletion) Response(out Deleted) (code int, obj *storage.Object) {
	switch {
	case !out.Removed && out.Accepted: // C-61
		return codeAccepted, out.Object
	case !out.Removed || d.Resource.Delete.Returned: // C-60, C-62
		return codeOK, out.Object
	}
	return codeOK, nil
}

// RemovedStatus is the response for kinds that don't return the removed object (C-62).
func (t Target) RemovedStatus(obj *storage.Object) *metav1.Status {
	return &metav1.Status{TypeMeta: statusType, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: obj.Meta.Name, Group: t.Resource.Group, Kind: t.Resource.Plural,
			UID: types.UID(obj.Meta.UID)},
	}
}

// WarnOfPolicy adds a warning if the default propagation policy of the kind is unexpected (C-24).
func (d *Deletion) WarnOfPolicy() {
	w := d.Resource.Delete.Warning
	if w != "" && d.Options.OrphanDependents == nil && d.Options.PropagationPolicy == nil {
		d.Warn.Add(w)
	}
}

// Delete deletes the newest state of an object, and retries after a conflict.
func (s *Registry) Delete(ctx context.Context, d *Deletion) (Deleted, error) {
	return s.delete(ctx, d, &s.Admission)
}

// deleting is the state that one attempt to delete an object passes on to the next.
type deleting struct {
	finalizers.Options
	guards  []storage.Guard
	plugins *admission.Steps
	// marked is the object as stored with a deletionTimestamp, if its removal follows immediately (C-32), or nil.
	marked *storage.Object
}

// finish prepares for the removal of a marked object. It drops the preconditions and guards: they held when the object
// was marked, and the mark can't be undone (C-14, C-90). If they prevented the removal, nothing else would remove the
// object.
func (p *deleting) finish(marked *storage.Object) {
	p.marked, p.guards, p.UID, p.ResourceVersion = marked, nil, nil, nil
}

// delete is Delete with the given plugins: the server's, or noPlugins.
func (s *Registry) delete(ctx context.Context, d *Deletion, plugins *admission.Steps) (Deleted, error) {
	if reject := d.Resource.Delete.Reject; reject != nil {
		if why := reject(d.Name); why != "" { // C-67
			return Deleted{}, apierrors.NewForbidden(d.Resource.GroupResource(), d.Name, errors.New(why))
		}
	}
	p := deleting{Options: optionsOf(d.Options), guards: d.guards, plugins: plugins}
	cur, err := s.Load(ctx, d.Key(s.Root))
	for err == nil {
		if cur == nil {
			return Deleted{}, d.NotFound() // C-64
		}
		var out Deleted
		if out, err = s.deleteOnce(ctx, d, &p, cur); err == nil {
			s.storeFirstStatus(ctx, d, out)
			return out, nil
		}
		cur, err = s.retry(err)
		if err == nil && p.marked != nil && (cur == nil || cur.Meta.UID != p.marked.Meta.UID) {
			// Another client removed the object after this request marked it. It may have created another one (AS
			// registry/generic/registry/store.go: Delete, ignoreNotFound; kubernetes#19403).
			return Deleted{Object: p.marked, Removed: true}, nil
		}
	}
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		err = d.Conflict(conflict)
	}
	return Deleted{}, err
}

// deleteOnce decides on one state of the object and executes the verdict.
func (s *Registry) deleteOnce(ctx context.Context, d *Deletion, p *deleting, cur *storage.Object) (Deleted, error) {
	state, kind, old, err := deletionState(d.Resource, cur)
	if err != nil {
		return Deleted{}, err
	}
	verdict := finalizers.Delete(state, kind, p.Options, s.Now())
	if r := verdict.Conflict; r != nil { // before admission (AS store.go:Delete, C-13)
		return Deleted{}, d.preconditionFailed(r)
	}
	decode := func() (runtime.Object, error) {
		var err error
		if old == nil {
			old, err = Decode(d.Resource, cur)
		}
		return old, err
	}
	a := d.attributes(admission.Delete, nil, nil, d.Options)
	a.Deletion = admission.Deletion{Collection: d.collection, Stored: decode}
	if err := p.plugins.Admit(ctx, a); err != nil {
		return Deleted{}, err
	}
	if err := p.plugins.Validate(ctx, a); err != nil { // C-66
		return Deleted{}, err
	}
	out := Deleted{Object: cur, Accepted: verdict.Accepted}
	if verdict.Step == finalizers.Store || verdict.Step == finalizers.StoreThenRemove {
		if _, err := decode(); err != nil {
			return Deleted{}, err
		}
		if out.Object, err = s.mark(ctx, d, p, cur, old, verdict); err != nil {
			return Deleted{}, err
		}
	}
	if verdict.Step == finalizers.StoreThenRemove {
		p.finish(out.Object)
	}
	if verdict.Step == finalizers.Remove || verdict.Step == finalizers.StoreThenRemove {
		out.Object, err = s.remove(ctx, d, p, out.Object)
		out.Removed = true
	}
	return out, err
}

// deletionState returns the object's state and its kind's rules, from which finalizers.Delete decides. The returned
// Object is nil if the metadata is enough for the decision and the value is known to be readable. So a cascade does not
// decode the thousands of objects that it deletes.
func deletionState(res *resources.Resource, cur *storage.Object) (
	finalizers.Object, finalizers.Kind, Object, error) {
	kind := finalizers.Kind{Policy: res.Delete.Policy, Cleanup: res.Delete.Cleanup}
	plain := res.Delete.Kind == nil && res.Delete.SpecFinalizers == nil
	if res.Custom { // only a conversion may fail
		plain = res.FromStored == nil
	}
	if plain && cur.VerifiedBy(res.Verified) {
		m := &cur.Meta
		return finalizers.Object{UID: m.UID, ResourceVersion: strconv.FormatInt(cur.Revision, 10),
			Generation: m.Generation, Finalizers: m.Finalizers, Deletion: m.Deletion,
			GracePeriodSeconds: m.GracePeriodSeconds}, kind, nil, nil
	}
	old, err := Decode(res, cur)
	if err != nil {
		return finalizers.Object{}, kind, nil, err
	}
	return lifecycleOf(res, old), res.Delete.For(old), old, nil
}

// mark stores an object as being deleted if it can't be removed yet (C-32, C-40).
func (s *Registry) mark(ctx context.Context, d *Deletion, p *deleting, cur *storage.Object, obj Object,
	v finalizers.Verdict) (*storage.Object, error) {
	applyVerdict(obj, v)
	if v.MarkTerminating && d.Resource.Delete.Mark != nil {
		d.Resource.Delete.Mark(obj)
	}
	obj.SetResourceVersion("")
	value, err := encode(d.Resource, obj)
	if err != nil {
		return nil, err
	}
	if d.DryRun {
		return s.decoded(d.Resource, cur.Key, value, cur.Revision), nil
	}
	rev, err := s.commit(ctx, d.Resource, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: value, Guards: p.guards})
	if err != nil {
		return nil, err
	}
	if v.MarkTerminating {
		s.marked(d, cur, v.Finalizers, rev)
	}
	return s.Cache.Share(s.decoded(d.Resource, cur.Key, value, rev)), nil
}

// remove deletes the key at the revision on which the decision was made (C-41, C-63).
func (s *Registry) remove(ctx context.Context, d *Deletion, p *deleting, cur *storage.Object) (
	*storage.Object, error) {
	if d.DryRun {
		return cur, nil
	}
	rev, err := s.commit(ctx, d.Resource, storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: p.guards})
	if err != nil {
		return nil, err
	}
	s.removed(d.Request, cur, rev, d.trailRequest(cur))
	return s.Decoder.Revise(cur, rev), nil
}

// storeFirstStatus stores the status that the kind's controller sets first for a deletion. It only logs an error,
// because the controller sets the status, too.
func (s *Registry) storeFirstStatus(ctx context.Context, d *Deletion, out Deleted) {
	begin := d.Resource.Delete.Begin
	if begin == nil || out.Removed || d.DryRun {
		return
	}
	p := Path{Resource: d.Resource, Subresource: "status", Namespace: d.Namespace, Name: d.Name}
	client := s.AsServer("kube-apiserver")
	_, err := client.Change(ctx, p, func(obj runtime.Object) (runtime.Object, error) {
		if string(obj.(Object).GetUID()) == out.Object.Meta.UID {
			begin(obj)
		}
		return obj, nil
	})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Log.Debug("failed to store the first status of a deletion", "key", d.Key(s.Root), "err", err)
	}
}

// preconditionFailed returns the error for a precondition that did not hold (C-10, C-11, C-13).
func (t Target) preconditionFailed(r *finalizers.Conflict) error {
	gr := schema.GroupResource{Group: t.Resource.Group, Resource: t.Resource.Kind}
	if r.ByResource {
		gr = t.Resource.GroupResource()
	}
	return apierrors.NewConflict(gr, t.Name, errors.New(r.Cause()))
}

func optionsOf(o *metav1.DeleteOptions) finalizers.Options {
	out := finalizers.Options{GracePeriodSeconds: o.GracePeriodSeconds, OrphanDependents: o.OrphanDependents}
	if o.PropagationPolicy != nil {
		out.PropagationPolicy = string(*o.PropagationPolicy)
	}
	if p := o.Preconditions; p != nil {
		out.UID, out.ResourceVersion = (*string)(p.UID), p.ResourceVersion
	}
	return out
}

// collectionPage is the page size, in objects, of a DELETE of a collection (C-72).
const collectionPage = 10000

// DeleteCollection deletes each selected object separately, in key order and by the rules for a single object (C-78).
// It returns the objects as they were listed (C-72 to C-74). It stops at the first error other than NotFound. The
// objects before it stay deleted.
func (s *Registry) DeleteCollection(ctx context.Context, d *Deletion, from *metainternal.ListOptions, list lister) (
	[]*storage.Object, metav1.ListMeta, error) {
	page := *from
	whole := page.Limit <= 0
	if whole {
		page.Limit = collectionPage
	}
	if !d.DryRun {
		d.trailRequest(nil)
	}
	var all []*storage.Object
	for {
		items, meta, err := list(ctx, d.Target, &page)
		if err != nil {
			return nil, meta, err
		}
		for _, item := range items {
			of := *d.Request
			of.Namespace, of.Name = item.Meta.Namespace, item.Meta.Name
			one := &Deletion{Request: &of, Options: d.Options, collection: true, sent: d.sent}
			if _, err := s.Delete(ctx, one); err != nil && !apierrors.IsNotFound(err) { // C-73
				return nil, meta, err
			}
		}
		all = append(all, items...)
		if !whole || meta.Continue == "" {
			return all, meta, nil
		}
		page.Continue, page.ResourceVersion, page.ResourceVersionMatch = meta.Continue, "", ""
	}
}

// IgnoreReadError is the delete option that the feature gate AllowUnsafeMalformedObjectDeletion enables.
const IgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

// DeleteMalformed removes an object whose value can't be read. It skips admission, finalizers and graceful deletion,
// which read the value (V-054; AS registry/generic/registry/corrupt_obj_deleter.go: Delete). A dry run ends before the
// removal.
func (s *Registry) DeleteMalformed(ctx context.Context, d *Deletion) (*metav1.Status, error) {
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	key := d.Key(s.Root)
	cur, _ := s.Cache.Get(key)
	done := &metav1.Status{TypeMeta: statusType, Status: metav1.StatusSuccess, Code: codeOK,
		Details: &metav1.StatusDetails{Name: d.Name, Kind: d.Resource.Kind}}
	for cur != nil {
		unreadable := s.Readable(d.Resource, cur)
		switch {
		case unreadable == nil:
			return nil, d.notMalformed(key)
		case d.DryRun:
			return done, nil
		}
		rev, err := s.commit(ctx, d.Resource, storage.Txn{Key: key, Expect: cur.Revision})
		var conflict *storage.ConflictError
		switch {
		case err == nil:
			s.removed(d.Request, cur, rev, newTrailRequest(d.Request, cur, nil))
			s.Log.Warn("an object that can't be decoded was deleted without regard to finalizers",
				"key", key, "user", d.User.Name, "err", unreadable)
			return done, nil
		case !errors.As(err, &conflict):
			return nil, err
		case conflict.Current.ModRevision == 0:
			cur = nil
		default: // upstream deletes even a value that another client has just written; here it may be readable
			cur = s.Decoder.Decode(conflict.Current)
		}
	}
	return nil, d.NotFound()
}

// errCodeInvalid is the code of etcd3's error for an object in an unexpected state (AS pkg/storage/errors.go:
// ErrCodeInvalidObj).
const errCodeInvalid = 4

// notMalformed returns the error 409 for an object that can be decoded (V-054; AS pkg/storage/etcd3/store.go: getState,
// pkg/storage/errors/storage.go: InterpretDeleteError).
func (t Target) notMalformed(key string) error {
	return t.Conflict(fmt.Errorf("StorageError: invalid object, Code: %d, Key: %s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
		errCodeInvalid, key))
}
