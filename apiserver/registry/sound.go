package registry

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Sound returns nil if the stored value is an object of the resource's kind, or why it can't be read.
func (s *Registry) Sound(res *resources.Resource, o *storage.Object) error {
	if o.Err != nil || s.known(res, o) {
		return o.Err
	}
	_, err := DecodeSound(res, o)
	if status.Unconverted(err) != nil {
		return nil // reported where it is shown
	}
	return err
}

// known reports whether the value is known to be sound without decoding it.
func (s *Registry) known(res *resources.Resource, o *storage.Object) bool {
	switch {
	case o.Err != nil:
		return false
	case o.SealedBy(res.Seal):
		return true
	case s.Vouchers.Has(res, o):
		o.SetSeal(res.Seal)
		return true
	}
	return false
}

// DecodeSound decodes the value into the stored version's type. A custom resource stays in the version that
// it was stored in.
func DecodeSound(res *resources.Resource, o *storage.Object) (runtime.Object, error) {
	obj, _, err := DecodeShown(res, o)
	return obj, err
}

// DecodeShown is decodeSound. data is the object as JSON if it is a custom resource of the stored version
// that isn't known to be canonical, else nil.
func DecodeShown(res *resources.Resource, o *storage.Object) (obj runtime.Object, data []byte, err error) {
	if o.Err != nil {
		return nil, nil, o.Err
	}
	is := schema.FromAPIVersionAndKind(o.Meta.APIVersion, o.Meta.Kind).GroupKind()
	if want := res.Stored.GroupKind(); !want.Empty() && is != want {
		return nil, nil, fmt.Errorf("%w: %s: its kind is %q", storage.ErrCorrupt, o.Key, is)
	}
	obj, err = codec.DecodeStored(res, o.JSON)
	if status.Unconverted(err) != nil {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %v", storage.ErrCorrupt, o.Key, err)
	}
	switch {
	case !res.Custom:
		o.SetSeal(res.Seal)
	case o.Meta.APIVersion == res.Stored.GroupVersion().String() && !o.SealedBy(res.Seal):
		// The bytes are what the schema makes of them unless it has changed since.
		if data, err = json.Marshal(obj.(*unstructured.Unstructured).Object); err == nil && bytes.Equal(data, o.JSON) {
			o.SetSeal(res.Seal)
		}
	}
	return obj, data, err
}

// Unreadable reports a stored value that can't be read, and what that led to. It was written to etcd by something else
// than this server. Every one is counted; every list and watch meets it again, so the log has ten and then one a second.
func (s *Registry) Unreadable(key string, err error, then string) {
	s.Corrupt.Inc()
	s.Complaint.Do(func() { s.Log.Warn("a stored object can't be decoded", "key", key, "then", then, "err", err) })
}

// Refused reports it and returns what the client is answered.
func (s *Registry) Refused(key string, err error) error {
	s.Unreadable(key, err, "rejected a request for it")
	return fmt.Errorf("reading %s: %w", key, err)
}

// readable returns what is about to be decoded, or why its metadata can't be read.
func (s *Registry) readable(o *storage.Object) (*storage.Object, error) {
	if o.Err != nil {
		return nil, s.Refused(o.Key, o.Err)
	}
	return o, nil
}
