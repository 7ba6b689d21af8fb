package registry

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
	"github.com/kubecascade/kubecascade/apiserver/resources/hooks"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
	"github.com/kubecascade/kubecascade/storage"
)

// Object is what every API object is.
type Object = hooks.Object

// Operation is one request that changes something, wherever it came from.
type Operation struct {
	Target
	User   auth.User
	Warn   *warning.List
	DryRun bool
	// Manager is the field manager of the write; Tracked says that the change itself has updated managedFields (apply,
	// scale) or that this write leaves no trace in them (binding).
	Manager string
	Tracked bool
	// bare says that what the change makes is stored as it is, whatever strategies and plugins would do
	// with it.
	bare bool
	// link is the whole change where nothing but owners and finalizers do, whatever the kind's rules find wrong
	// with the rest; else nil.
	link func(metav1.Object) error
	// guards are compared in the same transaction as the write (gc's deletes).
	guards []storage.Guard
	// MayCreate authorizes the client to create what it updates or applies; nil allows it.
	MayCreate func() error
}

// Attributes are what admission is told of the operation.
func (o *Operation) Attributes(operation admission.Operation, obj, old runtime.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: operation, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name,
		Object: obj, Old: old, User: o.User, DryRun: o.DryRun, Warn: o.Warn.Add,
	}
	a.Subresource = o.subName()
	return a
}

func (o *Operation) subName() string {
	if o.Subresource == nil {
		return ""
	}
	return o.Subresource.Name
}

// Load returns the stored object as of now, nil if there is none.
func (s *Registry) Load(ctx context.Context, key string) (*storage.Object, error) {
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	o, _ := s.Cache.Get(key)
	if o == nil {
		return nil, nil
	}
	return s.readable(o)
}

// Fresh waits until the cache shows every write that was acknowledged before the call.
func (s *Registry) Fresh(ctx context.Context) error {
	rev, err := s.Store.Revision(ctx)
	if err != nil {
		return err
	}
	return s.Cache.Wait(ctx, rev)
}

// Decode reads a cached object into the version that writes work on: the stored one, but of Direct kinds the served one,
// as only that has the schema that a request is validated by.
func (o *Operation) Decode(cur *storage.Object) (Object, error) {
	obj, err := DecodeSound(o.Resource, cur)
	switch {
	case err != nil:
	case o.Resource.Custom:
		obj, err = serve(o.Resource, obj)
	case o.Resource.Direct && o.Resource.FromStored != nil:
		obj, err = o.Resource.FromStored(obj)
	}
	if err != nil {
		return nil, err
	}
	// A custom resource was filled in before it was converted, by the version that it was stored in, and isn't
	// again (AM pkg/runtime/serializer/versioning/versioning.go: Decode).
	if d := o.Resource.Strategy.Default; d != nil && !o.Resource.Custom {
		d(obj)
	}
	return obj.(Object), nil
}

// ToStored converts an object of the served version to the one that writes work on, which is the stored one but for
// Direct kinds, and fills in defaults.
func (o *Operation) ToStored(obj runtime.Object) (Object, error) {
	if o.Resource.Direct {
		if d := o.Resource.Strategy.Default; d != nil {
			d(obj)
		}
		return obj.(Object), nil
	}
	if o.Resource.ToStored != nil {
		var err error
		if obj, err = o.Resource.ToStored(obj); err != nil {
			return nil, status.BadRequest("converting %s to its stored version: %v", o.Resource.Kind, err)
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	if d := o.Resource.Strategy.Default; d != nil {
		d(obj)
	}
	return obj.(Object), nil
}

// undone tells the plugins that a write failed, unless it may still be carried out.
func undone(a *admission.Attributes, err error) {
	if err != nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Failed()
	}
}

// put stores what is in the transaction. An object that is too large is tried once more without
// its managedFields, unless they are the point of the request (0-15).
func (s *Registry) put(ctx context.Context, o *Operation, t storage.Txn, obj Object) (*storage.Object, error) {
	t.Guards, t.TTL = o.guards, s.TTL(o)
	rev, err := s.Commit(ctx, o, t)
	if errors.Is(err, storage.ErrTooLarge) && !o.Tracked && len(obj.GetManagedFields()) > 0 {
		obj.SetManagedFields(nil)
		if t.Value, err = codec.EncodeStored(o.Resource, obj); err == nil {
			rev, err = s.Commit(ctx, o, t)
		}
	}
	if err != nil {
		return nil, err
	}
	s.Vouchers.Add(rev)
	return s.Decoder.Decode(storage.Record{Key: t.Key, Value: t.Value, ModRevision: rev}), nil
}

// Commit is the store's Commit. A write that defines types is done when they are served as it says.
func (s *Registry) Commit(ctx context.Context, o *Operation, t storage.Txn) (int64, error) {
	rev, err := s.Store.Commit(ctx, t)
	if err == nil && o.Resource.Defines {
		if e := s.Cache.Wait(ctx, rev); e != nil {
			s.Log.Debug("a write of a CustomResourceDefinition did not wait until it is served", "key", t.Key, "err", e)
		}
	}
	return rev, err
}

// TTL is how long the object is kept; 0 is for ever.
func (s *Registry) TTL(o *Operation) time.Duration {
	if !o.Resource.Expires {
		return 0
	}
	return s.EventTTL
}

// NotFound is 0-02.
func (o *Operation) NotFound() error {
	return apierrors.NewNotFound(o.Resource.GroupResource(), o.Name)
}

// Conflict is 0-05.
func (o *Operation) Conflict(cause error) error {
	return apierrors.NewConflict(o.Resource.GroupResource(), o.Name, cause)
}

// warnOf adds the warnings of the kind or of the subresource; old is nil on create.
func (o *Operation) warnOf(obj, old runtime.Object) {
	w := o.Resource.Strategy.Warnings
	if o.Subresource != nil {
		w = o.Subresource.Warnings
	}
	if w == nil {
		return
	}
	for _, message := range w(obj, old) {
		o.Warn.Add(message)
	}
}

// warnInert warns the client of a write whose object will have no effect, and says so in the log once a kind.
// Subresources are written by controllers, which need no warning.
func (s *Registry) warnInert(o *Operation) {
	if o.Resource.Inert == "" || o.Subresource != nil || o.Warn == nil {
		return
	}
	o.Warn.Add(o.Resource.Kind + " has no effect in kubecascade yet: " + o.Resource.Inert)
	if _, told := s.inert.LoadOrStore(o.Resource.GroupResource(), true); !told {
		s.Log.Warn("objects of this kind are stored without effect",
			"kind", o.Resource.Kind, "because", o.Resource.Inert)
	}
}

// CheckName compares the name in a body with the one in the path (B-02).
func (o *Operation) CheckName(m metav1.Object) error {
	switch name := m.GetName(); {
	case name == "":
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided",
			o.Name)
	case name != o.Name:
		return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, o.Name)
	}
	return nil
}

// IsDryRun reports whether the values of the option dryRun ask for that.
func IsDryRun(values []string) bool {
	return len(values) > 0 && strings.EqualFold(values[0], metav1.DryRunAll)
}
