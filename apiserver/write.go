package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
)

// object is what every API object is.
type object interface {
	metav1.Object
	runtime.Object
}

// op is one request that changes something, wherever it came from.
type op struct {
	target
	user   auth.User
	warn   *warnings
	dryRun bool
	// manager is who managedFields record the write for; tracked says that the change itself has
	// kept them (apply, scale) or that this write leaves no trace in them (binding).
	manager string
	tracked bool
	// bare says that what the change makes is stored as it is, whatever strategies and plugins would do
	// with it.
	bare bool
	// link is the whole change where nothing but owners and finalizers do, whatever the kind's rules find wrong
	// with the rest; else nil.
	link func(metav1.Object) error
	// guards are compared in the same transaction as the write (gc's deletes).
	guards []storage.Guard
	// mayCreate judges whether the client may create what it updates or applies; nil needs no asking.
	mayCreate func() error
}

func (o *op) attributes(operation admission.Operation, obj, old runtime.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: operation, Resource: o.res, Namespace: o.namespace, Name: o.name,
		Object: obj, Old: old, User: o.user, DryRun: o.dryRun, Warn: o.warn.add,
	}
	a.Subresource = o.subName()
	return a
}

func (o *op) subName() string {
	if o.sub == nil {
		return ""
	}
	return o.sub.Name
}

// load returns the stored object as of now, nil if there is none.
func (s *Server) load(ctx context.Context, key string) (*storage.Object, error) {
	if err := s.fresh(ctx); err != nil {
		return nil, err
	}
	o, _ := s.cache.Get(key)
	if o == nil {
		return nil, nil
	}
	return s.readable(o)
}

// fresh waits until the cache shows every write that was acknowledged before the call.
func (s *Server) fresh(ctx context.Context) error {
	rev, err := s.store.Revision(ctx)
	if err != nil {
		return err
	}
	return s.cache.Wait(ctx, rev)
}

// decode reads a cached object into the version that the pipe works on: the stored one, but of Direct
// kinds the served one, as only that has the schema that a request is judged by.
func (o *op) decode(cur *storage.Object) (object, error) {
	obj, err := decodeSound(o.res, cur)
	switch {
	case err != nil:
	case o.res.Custom:
		obj, err = serve(o.res, obj)
	case o.res.Direct && o.res.FromStored != nil:
		obj, err = o.res.FromStored(obj)
	}
	if err != nil {
		return nil, err
	}
	// A custom resource was filled in before it was converted, by the version that it was stored in, and isn't
	// again (AM pkg/runtime/serializer/versioning/versioning.go: Decode).
	if d := o.res.Strategy.Default; d != nil && !o.res.Custom {
		d(obj)
	}
	return obj.(object), nil
}

// createOnce is create on one state of what the object will live in.
func (s *Server) createOnce(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	wipeSystemFields(obj)
	if err := matchNamespace(o.res, obj, o.namespace); err != nil {
		return nil, err
	}
	if err := checkManagers(obj); err != nil {
		return nil, err
	}
	dedupOwners(obj, false, o.warn.add)
	if !o.tracked {
		s.fields.Update(o.res, "", nil, obj, o.manager)
	}
	if err := apply.Guard(obj, o.warn.add, func() error {
		return s.admission.Admit(ctx, o.attributes(admission.Create, obj, nil))
	}); err != nil {
		return nil, err
	}
	dedupOwners(obj, true, o.warn.add)
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		return s.createNamed(ctx, o, obj)
	}
	const attempts = 8
	var err error
	for range attempts {
		var out *storage.Object
		if out, err = s.createNamed(ctx, o, obj.DeepCopyObject().(object)); err == nil || !apierrors.IsAlreadyExists(err) {
			return out, err
		}
	}
	return nil, err
}

// createNamed is one attempt: system fields, strategy, validation, commit.
func (s *Server) createNamed(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	fillSystemFields(obj, s.now())
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(generatedName(obj.GetGenerateName()))
	}
	revision := obj.GetResourceVersion()
	if w := o.res.Strategy.EarlyWarnings; w != nil {
		for _, text := range w(obj) {
			o.warn.add(text)
		}
	}
	named := *o
	named.name = obj.GetName()
	return s.allocating(ctx, &named, obj, nil, func(o *op, obj object) (*storage.Object, error) {
		return s.storeNew(ctx, o, obj, revision)
	})
}

// storeNew makes of a new object what may be stored, judges it and commits it. revision is what the
// client named.
func (s *Server) storeNew(ctx context.Context, o *op, obj object, revision string) (out *storage.Object, err error) {
	prepareCreate(o.res, obj)
	if f := o.res.Strategy.Requester; f != nil {
		f(obj, o.user.Name, o.user.UID, o.user.Groups, o.user.Extra)
	}
	if err := validateNew(o.res, obj); err != nil {
		return nil, err
	}
	o.warnOf(obj, nil)
	if o.mayCreate != nil {
		if err := o.mayCreate(); err != nil {
			return nil, err
		}
	}
	a := o.attributes(admission.Create, obj, nil)
	defer func() { undone(a, err) }()
	if err := s.admission.Validate(ctx, a); err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(revision, 10, 64); err == nil && n != 0 && !o.dryRun {
		return nil, errCreateRevision
	}
	return s.insert(ctx, o, obj)
}

// undone tells the plugins that a write failed, unless it may still be carried out.
func undone(a *admission.Attributes, err error) {
	if err != nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Failed()
	}
}

// insert commits a new object, if its name is free, and words what stands in its way.
func (s *Server) insert(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := encodeStored(o.res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", o.res.Kind, err)
	}
	key := o.key(s.root)
	if o.dryRun {
		cur, err := s.load(ctx, key)
		if err != nil || cur == nil {
			return s.decoder.Decode(storage.Record{Key: key, Value: value}), err
		}
		return nil, o.exists(obj, cur)
	}
	out, err := s.put(ctx, o, storage.Txn{Key: key, Value: value}, obj)
	var lost *storage.ConflictError
	if errors.As(err, &lost) {
		if lost.Guard != nil { // whoever set it decides again
			return nil, err
		}
		return nil, o.exists(obj, s.decoder.Decode(lost.Current))
	}
	return out, err
}

// put stores what is in the transaction. An object that is too large is tried once more without
// its managedFields, unless they are the point of the request (0-15).
func (s *Server) put(ctx context.Context, o *op, t storage.Txn, obj object) (*storage.Object, error) {
	t.Guards, t.TTL = o.guards, s.ttl(o)
	rev, err := s.commit(ctx, o, t)
	if errors.Is(err, storage.ErrTooLarge) && !o.tracked && len(obj.GetManagedFields()) > 0 {
		obj.SetManagedFields(nil)
		if t.Value, err = encodeStored(o.res, obj); err == nil {
			rev, err = s.commit(ctx, o, t)
		}
	}
	if err != nil {
		return nil, err
	}
	s.vouchers.add(rev)
	return s.decoder.Decode(storage.Record{Key: t.Key, Value: t.Value, ModRevision: rev}), nil
}

// commit is the store's Commit. A write that defines types is done when they are served as it says.
func (s *Server) commit(ctx context.Context, o *op, t storage.Txn) (int64, error) {
	rev, err := s.store.Commit(ctx, t)
	if err == nil && o.res.Defines {
		if e := s.cache.Wait(ctx, rev); e != nil {
			s.log.Debug("a definition's writer didn't wait for it", "key", t.Key, "err", e)
		}
	}
	return rev, err
}

func (s *Server) ttl(o *op) time.Duration {
	if !o.res.Expires {
		return 0
	}
	return s.config.EventTTL
}

// exists is 0-03 or, for a name that was to be generated, 0-04.
func (o *op) exists(obj object, cur *storage.Object) error {
	var err *apierrors.StatusError
	if obj.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(o.res.GroupResource(), obj.GetName(), 1)
	} else {
		err = apierrors.NewAlreadyExists(o.res.GroupResource(), obj.GetName())
	}
	if cur.Meta.Deleting() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// notFound is 0-02.
func (o *op) notFound() error {
	return apierrors.NewNotFound(o.res.GroupResource(), o.name)
}

// conflict is 0-05.
func (o *op) conflict(cause error) error {
	return apierrors.NewConflict(o.res.GroupResource(), o.name, cause)
}

// errModified is the cause of B-08.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// change makes the new state out of the stored one. Both are in the stored version; old may be
// changed and returned.
type change func(old object) (object, error)

// update carries out a change on the newest state of an object, again and again while others win
// the race for it (B-56); a resourceVersion that the change brings is compared with each state, so
// a client that names one gets a conflict. The request's deadline bounds the attempts.
func (s *Server) update(ctx context.Context, o *op, c change) (*storage.Object, error) {
	cur, err := s.load(ctx, o.key(s.root))
	for err == nil {
		if cur == nil {
			return nil, o.notFound()
		}
		var out *storage.Object
		if out, err = s.updateOnce(ctx, o, cur, c); err == nil {
			return out, nil
		}
		cur, err = s.retry(err)
	}
	return nil, err
}

// retry returns the object that won a race, nil if it was removed, or the error if it was none.
func (s *Server) retry(err error) (*storage.Object, error) {
	var lost *storage.ConflictError
	if !errors.As(err, &lost) || lost.Guard != nil {
		return nil, err
	}
	if lost.Current.ModRevision == 0 {
		return nil, nil
	}
	return s.readable(s.decoder.Decode(lost.Current))
}

func (s *Server) updateOnce(ctx context.Context, o *op, cur *storage.Object, c change) (*storage.Object, error) {
	if o.link != nil {
		if out, done, err := s.unlink(ctx, o, cur); done || err != nil {
			return out, err
		}
	}
	old, err := o.decode(cur)
	if err != nil {
		return nil, err
	}
	obj, err := c(old.DeepCopyObject().(object))
	if err != nil {
		return nil, err
	}
	if o.bare {
		return s.replace(ctx, o, cur, obj, old)
	}
	if err := checkManagers(obj); err != nil {
		return nil, err
	}
	if !o.tracked {
		s.fields.Update(o.res, o.subName(), old, obj, o.manager)
	}
	if err := apply.Guard(obj, o.warn.add, func() error {
		return s.admission.Admit(ctx, o.attributes(admission.Update, obj, old))
	}); err != nil {
		return nil, err
	}
	dedupOwners(obj, true, o.warn.add)
	if err := o.checkRevision(obj, cur); err != nil {
		return nil, err
	}
	if err := matchNamespace(o.res, obj, o.namespace); err != nil {
		return nil, err
	}
	return s.allocating(ctx, o, obj, old, func(o *op, obj object) (*storage.Object, error) {
		return s.storeChanged(ctx, o, cur, obj, old)
	})
}

// storeChanged makes of a new state what may be stored, judges it and commits it.
func (s *Server) storeChanged(ctx context.Context, o *op, cur *storage.Object, obj, old object) (out *storage.Object, err error) {
	obj.SetGeneration(old.GetGeneration())
	prepareUpdate(o.res, o.sub, obj, old)
	inherit(obj, old)
	if err := o.validateChange(obj, old); err != nil {
		return nil, err
	}
	o.warnOf(obj, old)
	a := o.attributes(admission.Update, obj, old)
	defer func() { undone(a, err) }()
	if err := s.admission.Validate(ctx, a); err != nil {
		return nil, err
	}
	return s.replace(ctx, o, cur, obj, old)
}

// checkRevision compares the revision that the new state names with the stored one (B-06 to B-08).
func (o *op) checkRevision(obj object, cur *storage.Object) error {
	var want uint64
	if rv := obj.GetResourceVersion(); rv != "" {
		n, err := strconv.ParseUint(rv, 10, 64)
		if err != nil {
			return err // B-07
		}
		want = n
	}
	switch {
	case want == 0 && o.res.Strategy.Conditional:
		gk := schema.GroupKind{Group: o.res.Group, Kind: o.res.Plural}
		return apierrors.NewInvalid(gk, o.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), want, "must be specified for an update")})
	case want != 0 && want != uint64(cur.Revision):
		return o.conflict(errModified)
	}
	obj.SetResourceVersion(strconv.FormatInt(cur.Revision, 10))
	return nil
}

// replace commits an update: it stores the new state, removes the object if the update took its
// last finalizer (B-20), or does nothing if nothing changed (B-17).
func (s *Server) replace(ctx context.Context, o *op, cur *storage.Object, obj, old object) (*storage.Object, error) {
	apply.KeepTimes(obj, old) // B-17
	verdict := finalizers.Update(lifecycleOf(o.res, old), lifecycleOf(o.res, obj), s.now())
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := encodeStored(o.res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", o.res.Kind, err)
	}
	if same, err := storage.Splice(value, cur.Revision); o.dryRun || err == nil && verdict.Step == finalizers.Store && bytes.Equal(same, cur.JSON) {
		out := s.decoder.Decode(storage.Record{Key: cur.Key, Value: value, ModRevision: cur.Revision})
		return out, out.Err
	}
	if verdict.Step == finalizers.Store {
		return s.put(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Value: value}, obj)
	}
	return s.release(ctx, o, cur, value)
}

// release commits an update that takes an object's last finalizer. It returns the object as submitted, at the
// revision it had (B-20).
func (s *Server) release(ctx context.Context, o *op, cur *storage.Object, value []byte) (*storage.Object, error) {
	_, err := s.commit(ctx, o, storage.Txn{Key: cur.Key, Expect: cur.Revision, Guards: o.guards})
	var lost *storage.ConflictError
	if errors.As(err, &lost) && lost.Guard == nil && lost.Current.ModRevision == 0 {
		err = nil // somebody else has removed it
	}
	return s.decoder.Decode(storage.Record{Key: cur.Key, Value: value, ModRevision: cur.Revision}), err
}

// warnOf adds the warnings of the kind or of the subresource; old is nil on create.
func (o *op) warnOf(obj, old runtime.Object) {
	w := o.res.Strategy.Warnings
	if o.sub != nil {
		w = o.sub.Warnings
	}
	if w == nil {
		return
	}
	for _, text := range w(obj, old) {
		o.warn.add(text)
	}
}

// checkName compares the name in a body with the one in the path (B-02).
func (o *op) checkName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return badRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", o.name)
	case name != o.name:
		return badRequest("the name of the object (%s) does not match the name on the URL (%s)", name, o.name)
	}
	return nil
}

func isDryRun(values []string) bool {
	return len(values) > 0 && strings.EqualFold(values[0], metav1.DryRunAll)
}
