package apiserver

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
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
	warn   *warning.List
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
		Object: obj, Old: old, User: o.user, DryRun: o.dryRun, Warn: o.warn.Add,
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
func (s *registry) load(ctx context.Context, key string) (*storage.Object, error) {
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
func (s *registry) fresh(ctx context.Context) error {
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

// undone tells the plugins that a write failed, unless it may still be carried out.
func undone(a *admission.Attributes, err error) {
	if err != nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Failed()
	}
}

// put stores what is in the transaction. An object that is too large is tried once more without
// its managedFields, unless they are the point of the request (0-15).
func (s *registry) put(ctx context.Context, o *op, t storage.Txn, obj object) (*storage.Object, error) {
	t.Guards, t.TTL = o.guards, s.ttl(o)
	rev, err := s.commit(ctx, o, t)
	if errors.Is(err, storage.ErrTooLarge) && !o.tracked && len(obj.GetManagedFields()) > 0 {
		obj.SetManagedFields(nil)
		if t.Value, err = codec.EncodeStored(o.res, obj); err == nil {
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
func (s *registry) commit(ctx context.Context, o *op, t storage.Txn) (int64, error) {
	rev, err := s.store.Commit(ctx, t)
	if err == nil && o.res.Defines {
		if e := s.cache.Wait(ctx, rev); e != nil {
			s.log.Debug("a definition's writer didn't wait for it", "key", t.Key, "err", e)
		}
	}
	return rev, err
}

func (s *registry) ttl(o *op) time.Duration {
	if !o.res.Expires {
		return 0
	}
	return s.eventTTL
}

// notFound is 0-02.
func (o *op) notFound() error {
	return apierrors.NewNotFound(o.res.GroupResource(), o.name)
}

// conflict is 0-05.
func (o *op) conflict(cause error) error {
	return apierrors.NewConflict(o.res.GroupResource(), o.name, cause)
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
		o.warn.Add(text)
	}
}

// warnInert warns the client of a write whose object will have no effect, and says so in the log once a kind.
// What clients write to a subresource is the doing of a controller, which knows better.
func (s *registry) warnInert(o *op) {
	if o.res.Inert == "" || o.sub != nil || o.warn == nil {
		return
	}
	o.warn.Add(o.res.Kind + " has no effect in kubecascade yet: " + o.res.Inert)
	if _, told := s.inert.LoadOrStore(o.res.GroupResource(), true); !told {
		s.log.Warn("a kind is stored without effect", "kind", o.res.Kind, "because", o.res.Inert)
	}
}

// checkName compares the name in a body with the one in the path (B-02).
func (o *op) checkName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", o.name)
	case name != o.name:
		return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, o.name)
	}
	return nil
}

func isDryRun(values []string) bool {
	return len(values) > 0 && strings.EqualFold(values[0], metav1.DryRunAll)
}
