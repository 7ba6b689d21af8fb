package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// DecodeReadable decodes the value into the type of the stored version. It does not convert a custom resource.
func DecodeReadable(res *resources.Resource, o *storage.Object) (runtime.Object, error) {
	if known, ok := o.Decoded().(runtime.Object); ok && o.VerifiedBy(res.Verified) {
		return known.DeepCopyObject(), nil
	}
	obj, _, err := DecodeShown(res, o)
	return obj, err
}

// DecodeShown is DecodeReadable, but also returns the JSON of a custom resource in the stored version that is not known
// to be canonical. For other objects data is nil.
func DecodeShown(res *resources.Resource, o *storage.Object) (obj runtime.Object, data []byte, err error) {
	if o.Err != nil {
		return nil, nil, o.Err
	}
	is := schema.FromAPIVersionAndKind(o.Meta.APIVersion, o.Meta.Kind)
	switch want := res.Stored; {
	case want.Empty():
	case !res.Custom && is.Version != "" && is != want && is != res.GroupVersionKind() &&
		resources.Same(is.GroupKind(), want.GroupKind()):
		return nil, nil, fmt.Errorf("%w: %s: %w", storage.ErrCorrupt, o.Key, resources.VersionError(is))
	case is.GroupKind() != want.GroupKind():
		return nil, nil, fmt.Errorf("%w: %s: its kind is %q", storage.ErrCorrupt, o.Key, is.GroupKind())
	}
	if res.Custom && o.VerifiedBy(res.Verified) {
		u := &unstructured.Unstructured{}
		obj, err = u, u.UnmarshalJSON(o.JSON)
	} else {
		obj, err = DecodeStored(res, o.JSON)
	}
	if status.Unconverted(err) != nil {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %v", storage.ErrCorrupt, o.Key, err)
	}
	switch {
	case !res.Custom:
		o.SetVerified(res.Verified)
	case o.Meta.APIVersion == res.Stored.GroupVersion().String() && !o.VerifiedBy(res.Verified):
		// The stored bytes are canonical, unless the schema has changed since.
		if data, err = json.Marshal(obj.(*unstructured.Unstructured).Object); err == nil && bytes.Equal(data, o.JSON) {
			o.SetVerified(res.Verified)
		}
	}
	return obj, data, err
}
