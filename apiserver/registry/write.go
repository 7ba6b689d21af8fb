package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/trail"
)

// Object is what every API object is.
type Object = entry.Object

// Operation is one request that changes an object, of a client or of the in-process client.
type Operation struct {
	Target
	User authentication.User
	Warn *warning.List
	// Audit is what the audit log has of the request; nil if it is not recorded.
	Audit  *audit.Record
	DryRun bool
	// Manager is the field manager of the write. Tracked says that the change itself has updated managedFields (apply,
	// scale) or that the write does not appear in them (binding).
	Manager string
	Tracked bool
	// unchecked: the change is stored without strategies, validation and admission plugins.
	unchecked bool
	// links: the change only removes owners and finalizers. The kind's validation of other fields is skipped.
	links bool
	// admitted says that no plugin acts on the write: it is a part of a request that was admitted (an eviction deletes
	// its pod, L-19).
	admitted bool
	// validated says that webhooks and policies have validated the very object in an earlier attempt.
	validated bool
	// collection says that it is a part of a DELETE of a collection.
	collection bool
	// shape is what webhooks and policies get instead of the object; nil for the object.
	shape admission.Shape
	// Options are those of the request, for webhooks and policies: CreateOptions, UpdateOptions, PatchOptions or
	// DeleteOptions; nil if the request has none.
	Options runtime.Object
	// guards are compared in the transaction of the write (deletions by the garbage collector).
	guards []storage.Guard
	// MayCreate authorizes the client to create the object that it updates or applies; nil allows it.
	MayCreate func() error
	// Sender is the client's request, for the trail; nil if there is no more to tell than the user. sender is the
	// in-process client; nil for others.
	Sender Sender
	sender *sender
	// deletes are the options of a deletion; nil for other operations. by is the request as the trail has it; nil before
	// it is needed.
	deletes *metav1.DeleteOptions
	by      *trail.By
	// answered is the code of the answer to the in-process client; 0 before there is one.
	answered int
}

// Attributes returns the admission attributes of the operation.
func (o *Operation) Attributes(operation admission.Operation, obj, old runtime.Object) *admission.Attributes {
	a := &admission.Attributes{
		Operation: operation, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name,
		Object: obj, Old: old, User: o.User, DryRun: o.DryRun, Kind: o.Resource.GroupVersionKind(), Shape: o.shape,
		Options: o.Options, Deletion: admission.Deletion{Collection: o.collection},
		Notes:    admission.Notes{Warn: o.Warn.Add, Audit: o.Audit},
		Progress: admission.Progress{Validated: o.validated},
	}
	if sub := o.Subresource; sub != nil {
		a.Subresource = sub.Name
		if !sub.Kind.Empty() {
			a.Kind = sub.Kind
		}
	}
	return a
}

func (o *Operation) subName() string {
	if o.Subresource == nil {
		return ""
	}
	return o.Subresource.Name
}

// Load returns the stored object by a consistent read, nil if it does not exist.
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

// Fresh waits until the cache has every write that was acknowledged before the call.
func (s *Registry) Fresh(ctx context.Context) error {
	rev, err := s.Store.Revision(ctx)
	if err != nil {
		return err
	}
	return s.Cache.Wait(ctx, rev)
}

// Decode decodes a cached object into the version that writes use. That is the stored version, but the served one of a
// custom resource, as only that has the schema by which the request is validated.
func (o *Operation) Decode(cur *storage.Object) (Object, error) {
	obj, err := DecodeReadable(o.Resource, cur)
	switch {
	case err != nil:
	case o.Resource.Custom:
		obj, err = o.Resource.ServeOne(obj)
	}
	if err != nil {
		return nil, err
	}
	// A custom resource was defaulted by the schema of its stored version before it was converted, and is not defaulted
	// again (AM pkg/runtime/serializer/versioning/versioning.go: Decode).
	if d := o.Resource.Strategy.Default; d != nil && !o.Resource.Custom {
		d(obj)
	}
	return obj.(Object), nil
}

// ToStored converts an object of the served version to the version that writes use (see Decode), and sets defaults.
func (o *Operation) ToStored(obj runtime.Object) (Object, error) {
	if o.Resource.Custom {
		if d := o.Resource.Strategy.Default; d != nil {
			d(obj)
		}
		return obj.(Object), nil
	}
	if c := o.Resource.Coerce; c != nil {
		if _, err := c(obj); err != nil {
			return nil, err
		}
	}
	if o.Resource.ToStored != nil {
		var err error
		if obj, err = o.Resource.ToStored(obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	if d := o.Resource.Strategy.Default; d != nil {
		d(obj)
	}
	return obj.(Object), nil
}

// undone calls the plugins for a failed write, unless the write may still be committed.
func undone(a *admission.Attributes, err error) {
	if err != nil && !errors.Is(err, storage.ErrUnavailable) {
		a.Failed()
	}
}

// put commits the transaction, with the value of obj, and returns what is stored. decoded is the same at any revision.
// If the object is too large, put retries without its managedFields, unless the request is about these (0-15).
func (s *Registry) put(ctx context.Context, o *Operation, t storage.Txn, obj Object, decoded *storage.Object) (
	*storage.Object, error) {
	t.Guards, t.TTL = o.guards, s.TTL(o)
	rev, err := s.Commit(ctx, o, t)
	if errors.Is(err, storage.ErrTooLarge) && !o.Tracked && len(obj.GetManagedFields()) > 0 {
		obj.SetManagedFields(nil)
		if t.Value, err = o.encode(obj); err == nil {
			decoded = s.decoded(o, t.Key, t.Value, t.Expect)
			rev, err = s.Commit(ctx, o, t)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.Cache.Share(s.Decoder.Revise(decoded, rev)), nil
}

// encode encodes an object for the store.
func (o *Operation) encode(obj Object) ([]byte, error) {
	value, err := codec.EncodeStored(o.Resource, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", o.Resource.Kind, err)
	}
	return value, nil
}

// decoded returns the object with a value that this process has encoded, so it is known to be readable.
func (s *Registry) decoded(o *Operation, key string, value []byte, rev int64) *storage.Object {
	out := s.Decoder.Decode(storage.Record{Key: key, Value: value, ModRevision: rev})
	if out.Err == nil && !o.Resource.Custom { // the schema of a custom resource may change it
		out.SetVerified(o.Resource.Verified)
	}
	return out
}

// Commit commits to the store. A write of an object that governs other requests returns when they see it.
func (s *Registry) Commit(ctx context.Context, o *Operation, t storage.Txn) (int64, error) {
	rev, err := s.Store.Commit(ctx, t)
	if err == nil && o.Resource.Governs {
		if e := s.Cache.Wait(ctx, rev); e != nil {
			s.Log.Debug("a write did not wait until it governs requests", "key", t.Key, "err", e)
		}
	}
	return rev, err
}

// TTL is how long the object is kept; 0 means without limit.
func (s *Registry) TTL(o *Operation) time.Duration {
	if !o.Resource.Expires {
		return 0
	}
	return s.EventTTL
}

// NotFound is the error 0-02.
func (o *Operation) NotFound() error {
	return apierrors.NewNotFound(o.Resource.GroupResource(), o.Name)
}

// Conflict is the error 0-05.
func (o *Operation) Conflict(cause error) error {
	return apierrors.NewConflict(o.Resource.GroupResource(), o.Name, cause)
}

// warnOf adds the warnings of the kind or the subresource; old is nil on create.
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

// CheckName compares the name in the body with the one in the path (B-02).
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

// IsDryRun reports whether the values of the option dryRun request a dry run.
func IsDryRun(values []string) bool {
	return len(values) > 0 && strings.EqualFold(values[0], metav1.DryRunAll)
}
