package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// deletion is what a DELETE came to.
type deletion struct {
	// object is what is left, or what was removed at the revision of its removal.
	object   *storage.Object
	removed  bool
	accepted bool
	// marked: it was stored as one that is about to be removed (C-32).
	marked bool
}

// serveDelete is DELETE of one object (section C).
func (s *Server) serveDelete(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	o, err := s.deleteOptions(q.r)
	if err != nil {
		return err
	}
	if ignoresReadError(o) {
		return s.deleteMalformed(q, x)
	}
	q.dryRun = isDryRun(o.DryRun)
	q.warnOfPolicy(o)
	d, err := s.registry.delete(q.r.Context(), &q.op, o)
	if err != nil {
		return err
	}
	switch {
	case !d.removed && d.accepted: // C-61
		return q.answer(x, http.StatusAccepted, d.object)
	case !d.removed || q.res.Delete.Returned: // C-60, C-62
		return q.answer(x, http.StatusOK, d.object)
	}
	return q.answerOther(x, http.StatusOK, q.removedStatus(d.object))
}

// removedStatus is the answer for kinds that don't return what was removed (C-62).
func (o *op) removedStatus(obj *storage.Object) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: obj.Meta.Name, Group: o.res.Group, Kind: o.res.Plural, UID: types.UID(obj.Meta.UID)},
	}
}

// warnOfPolicy warns where the default surprises people (C-24).
func (o *op) warnOfPolicy(d *metav1.DeleteOptions) {
	if w := o.res.Delete.Warning; w != "" && d.OrphanDependents == nil && d.PropagationPolicy == nil {
		o.warn.Add(w)
	}
}

// delete carries out a DELETE on the newest state of an object, again while others win the race.
func (s *registry) delete(ctx context.Context, o *op, opts *metav1.DeleteOptions) (deletion, error) {
	if refuse := o.res.Delete.Refuse; refuse != nil {
		if text := refuse(o.name); text != "" { // C-67
			return deletion{}, apierrors.NewForbidden(o.res.GroupResource(), o.name, errors.New(text))
		}
	}
	cur, err := s.load(ctx, o.key(s.root))
	for err == nil {
		if cur == nil {
			return deletion{}, o.notFound() // C-64
		}
		var d deletion
		if d, err = s.deleteOnce(ctx, o, cur, opts); err == nil {
			s.begin(ctx, o, d)
			return d, nil
		}
		if d.marked {
			o, opts = o.finishing(opts, d.object)
		}
		cur, err = s.retry(err)
	}
	var lost *storage.ConflictError
	if errors.As(err, &lost) {
		err = o.conflict(lost)
	}
	return deletion{}, err
}

// begin stores the status with which the kind's controller begins. That it can't is no failure: the
// controller is told of the deletion itself.
func (s *registry) begin(ctx context.Context, o *op, d deletion) {
	begin := o.res.Delete.Begin
	if begin == nil || d.removed || o.dryRun {
		return
	}
	p := Path{Resource: o.res, Subresource: "status", Namespace: o.namespace, Name: o.name}
	_, err := s.Loopback(auth.Loopback, "kube-apiserver").Change(ctx, p, func(obj runtime.Object) (runtime.Object, error) {
		if string(obj.(object).GetUID()) == d.object.Meta.UID {
			begin(obj)
		}
		return obj, nil
	})
	if err != nil && !apierrors.IsNotFound(err) {
		s.log.Debug("the first status of a deletion wasn't stored", "key", o.key(s.root), "err", err)
	}
}

// deleteOnce decides on one state of the object and does what the verdict says.
func (s *registry) deleteOnce(ctx context.Context, o *op, cur *storage.Object, opts *metav1.DeleteOptions) (deletion, error) {
	state, kind, old, err := s.standing(o, cur)
	if err != nil {
		return deletion{}, err
	}
	verdict := finalizers.Delete(state, kind, optionsOf(opts), s.now())
	if r := verdict.Refused; r != nil { // before anybody is asked (AS store.go:Delete, C-13)
		return deletion{}, o.refused(r)
	}
	a := o.attributes(admission.Delete, nil, nil)
	if err := s.admission.Admit(ctx, a); err != nil {
		return deletion{}, err
	}
	if err := s.admission.Validate(ctx, a); err != nil { // C-66
		return deletion{}, err
	}
	d := deletion{object: cur, accepted: verdict.Accepted}
	if verdict.Step == finalizers.Store || verdict.Step == finalizers.StoreThenRemove {
		if old == nil {
			if old, err = o.decode(cur); err != nil {
				return deletion{}, err
			}
		}
		if d.object, err = s.mark(ctx, o, cur, old, verdict); err != nil {
			return deletion{}, err
		}
	}
	if verdict.Step == finalizers.StoreThenRemove {
		d.marked = true
		o, _ = o.finishing(opts, d.object)
	}
	if verdict.Step == finalizers.Remove || verdict.Step == finalizers.StoreThenRemove {
		var removed *storage.Object
		if removed, err = s.remove(ctx, o, d.object); err == nil {
			d.object, d.removed = removed, true
		}
	}
	return d, err
}

// standing is what decides on the deletion of an object. The object itself is nil if its metadata tells that and its
// value is known to be one of the kind: a cascade deletes thousands that nobody has to read.
func (s *registry) standing(o *op, cur *storage.Object) (finalizers.Object, finalizers.Kind, object, error) {
	kind := finalizers.Kind{Policy: o.res.Delete.Policy}
	if o.res.Delete.Kind == nil && o.res.Delete.SpecFinalizers == nil && !o.res.Custom && !o.res.Direct && s.known(o.res, cur) {
		m := &cur.Meta
		return finalizers.Object{UID: m.UID, ResourceVersion: strconv.FormatInt(cur.Revision, 10), Generation: m.Generation,
			Finalizers: m.Finalizers, Deletion: m.Deletion, GracePeriodSeconds: m.GracePeriodSeconds}, kind, nil, nil
	}
	old, err := o.decode(cur)
	if err != nil {
		return finalizers.Object{}, kind, nil, err
	}
	if o.res.Delete.Kind != nil {
		kind = o.res.Delete.Kind(old)
	}
	return lifecycleOf(o.res, old), kind, old, nil
}

// finishing is the DELETE from the moment on when the object is marked: the resourceVersion and the
// owners that it depended on were compared then, and there is no way back (C-14, C-90). It must not
// stop here, for nobody else removes the object, and not go on to another one of that name.
func (o *op) finishing(opts *metav1.DeleteOptions, marked *storage.Object) (*op, *metav1.DeleteOptions) {
	rest, opts := *o, opts.DeepCopy()
	rest.guards = nil
	uid := types.UID(marked.Meta.UID)
	opts.Preconditions = &metav1.Preconditions{UID: &uid}
	return &rest, opts
}

// mark stores what a deletion that can't finish yet leaves behind (C-32, C-40).
func (s *registry) mark(ctx context.Context, o *op, cur *storage.Object, obj object, v finalizers.Verdict) (*storage.Object, error) {
	imprint(obj, v)
	if v.MarkTerminating && o.res.Delete.Mark != nil {
		o.res.Delete.Mark(obj)
	}
	obj.SetResourceVersion("")
	value, err := codec.EncodeStored(o.res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", o.res.Kind, err)
	}
	rev := cur.Revision
	if !o.dryRun {
		rev, err = s.commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: value, Guards: o.guards, TTL: s.ttl(o)})
		if err != nil {
			return nil, err
		}
	}
	return s.decoder.Decode(storage.Record{Key: cur.Key, Value: value, ModRevision: rev}), nil
}

// remove deletes the key at the revision that was judged (C-41, C-63).
func (s *registry) remove(ctx context.Context, o *op, cur *storage.Object) (*storage.Object, error) {
	if o.dryRun {
		return cur, nil
	}
	rev, err := s.commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: o.guards, TTL: s.ttl(o)})
	if err != nil {
		return nil, err
	}
	return s.decoder.Revise(cur, rev), nil
}

// refused words a precondition that did not hold (C-10, C-11, C-13).
func (o *op) refused(r *finalizers.Refusal) error {
	gr := schema.GroupResource{Group: o.res.Group, Resource: o.res.Kind}
	if r.ByResource {
		gr = o.res.GroupResource()
	}
	return apierrors.NewConflict(gr, o.name, errors.New(r.Cause()))
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
