package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Readable returns nil if the stored value can be decoded as the resource's kind, otherwise the error.
func (s *Registry) Readable(res *resources.Resource, o *storage.Object) error {
	if o.Err != nil || o.VerifiedBy(res.Verified) {
		return o.Err
	}
	_, err := codec.DecodeReadable(res, o)
	if status.Unconverted(err) != nil {
		return nil // reported when it is converted
	}
	return err
}

// Unreadable counts and logs a stored value that can't be decoded. then describes how the server handles it. Only
// another program can have written such a value to etcd. The log gets only ten messages, and then one a second, because
// each list and watch reads the value again.
func (s *Registry) Unreadable(key string, err error, then string) {
	s.Corrupt.Inc()
	s.Complaint.Do(func() { s.Log.Warn("a stored object can't be decoded", "key", key, "then", then, "err", err) })
}

// ReadError calls Unreadable for the value, and returns the error for the client.
func (s *Registry) ReadError(key string, err error) error {
	s.Unreadable(key, err, "rejected a request for it")
	return fmt.Errorf("reading %s: %w", key, err)
}

// readable returns the object, or an error if its metadata can't be decoded.
func (s *Registry) readable(o *storage.Object) (*storage.Object, error) {
	if o.Err != nil {
		return nil, s.ReadError(o.Key, o.Err)
	}
	return o, nil
}

// Decode decodes a cached object into the version that writes use. For built-in kinds, this is the stored version. For
// custom resources, it is the served version, because the schema of that version validates the request.
func Decode(res *resources.Resource, cur *storage.Object) (Object, error) {
	obj, err := codec.DecodeReadable(res, cur)
	switch {
	case err != nil:
	case res.Custom:
		obj, err = res.ServeOne(obj)
	}
	if err != nil {
		return nil, err
	}
	// A custom resource was defaulted by the schema of its stored version before it was converted, and is not defaulted
	// again (AM pkg/runtime/serializer/versioning/versioning.go: Decode).
	if d := res.Strategy.Default; d != nil && !res.Custom {
		d(obj)
	}
	return obj.(Object), nil
}

// ToStored converts an object of the served version to the version that writes use (see Decode), and sets defaults.
func ToStored(res *resources.Resource, obj runtime.Object) (Object, error) {
	if !res.Custom {
		if c := res.Coerce; c != nil {
			if _, err := c(obj); err != nil {
				return nil, err
			}
		}
		if res.ToStored != nil {
			var err error
			if obj, err = res.ToStored(obj); err != nil {
				return nil, err
			}
		}
		obj.GetObjectKind().SetGroupVersionKind(res.Stored)
	}
	if d := res.Strategy.Default; d != nil {
		d(obj)
	}
	return obj.(Object), nil
}

// served converts an object of the version that writes use to the version of the request. It does not convert custom
// resources, because their conversion may call a webhook.
func served(res *resources.Resource, obj runtime.Object) (out runtime.Object, err error) {
	if res.Custom {
		return obj, nil
	}
	if res.FromStored != nil {
		if obj, err = res.FromStored(obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	return obj, nil
}

// encode encodes an object for the store.
func encode(res *resources.Resource, obj Object) ([]byte, error) {
	value, err := codec.EncodeStored(res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", res.Kind, err)
	}
	return value, nil
}
