package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// view is the conversion of a stored custom resource. It is made once, and used for the selection and the response.
type view struct {
	// obj is the decoded object. served reports whether it is in the requested version.
	obj    runtime.Object
	served bool
	// data replaces obj if only the JSON is needed, because it takes less memory.
	data []byte
	err  error
}

// MetadataOnly reports whether the response has only metadata, which needs no conversion.
func (x *Rendering) MetadataOnly() bool {
	return strings.HasPrefix(x.Format.As, "PartialObjectMetadata")
}

// AsStored reports whether the object's bytes are sent as they are, and are known to be readable.
func (x *Rendering) AsStored(o *storage.Object) bool {
	return x.Resource.FromStored == nil && o.VerifiedBy(x.Resource.Verified)
}

// view returns the view of an object, or nil if its bytes are sent as they are.
func (x *Rendering) view(o *storage.Object) *view {
	if v := x.Views[o]; v != nil {
		return v
	}
	if x.AsStored(o) {
		return nil
	}
	v := &view{}
	v.obj, v.data, v.err = codec.DecodeShown(x.Resource, o)
	v.served = v.err == nil && v.obj.(*unstructured.Unstructured).GetAPIVersion() == x.Resource.GroupVersion().String()
	if !v.served {
		v.data = nil
	}
	x.addView(o, v)
	return v
}

// addView stores a view until Forget.
func (x *Rendering) addView(o *storage.Object, v *view) {
	if x.Views == nil {
		x.Views = map[*storage.Object]*view{}
	}
	x.Views[o] = v
}

// Unreadable returns the error if a custom resource can't be read, otherwise nil. See registry.Readable.
func (x *Rendering) Unreadable(o *storage.Object) error {
	// A failed conversion is reported when the object is encoded.
	if v := x.view(o); v != nil && status.Unconverted(v.err) == nil {
		return v.err
	}
	return nil
}

// Read makes the views of objects in the requested version. It converts the objects of other versions together. The
// view of an object that can't be decoded has the error.
func (x *Rendering) Read(objs []*storage.Object) error {
	var others []*view
	var stored []runtime.Object
	for _, o := range objs {
		switch v := x.view(o); {
		case v == nil:
		case status.Unconverted(v.err) != nil:
			return v.err
		case v.err == nil && !v.served:
			others, stored = append(others, v), append(stored, v.obj)
		}
	}
	if len(others) == 0 {
		return nil
	}
	served, err := x.Resource.Serve(stored)
	if err != nil {
		return err
	}
	for i, v := range others {
		served[i].GetObjectKind().SetGroupVersionKind(x.Resource.GroupVersionKind())
		v.obj, v.served = served[i], true
	}
	return nil
}

// JSON returns the object as JSON in the requested version.
func (x *Rendering) JSON(o *storage.Object) ([]byte, error) {
	if err := x.Read([]*storage.Object{o}); err != nil {
		return nil, fmt.Errorf("converting %s: %w", o.Key, err)
	}
	v := x.view(o)
	switch {
	case v == nil:
		return o.JSON, nil
	case v.err != nil || v.data != nil:
		return v.data, v.err
	}
	return json.Marshal(v.obj.(*unstructured.Unstructured).Object)
}

// custom returns the object in the requested version.
func (x *Rendering) custom(o *storage.Object) (runtime.Object, error) {
	if err := x.Read([]*storage.Object{o}); err != nil {
		return nil, fmt.Errorf("converting %s: %w", o.Key, err)
	}
	if v := x.view(o); v != nil {
		return v.obj, v.err
	}
	return codec.DecodeReadable(x.Resource, o)
}

// Shrink drops the parts of a view that the response does not need.
func (x *Rendering) Shrink(o *storage.Object) error {
	v := x.Views[o]
	switch {
	case v == nil || v.err != nil:
		return nil
	case x.MetadataOnly():
		x.Forget(o)
		return nil
	case x.Format.Media != codec.MediaJSON || x.Format.As != "":
		v.data = nil
		return nil
	}
	var err error
	v.data, err = x.JSON(o)
	v.obj = nil
	return err
}

// Forget drops the view of an object.
func (x *Rendering) Forget(o *storage.Object) { delete(x.Views, o) }

// Revised copies the view of an object for the same object at another revision.
func (x *Rendering) Revised(o, at *storage.Object) {
	v := x.Views[o]
	if v == nil || !v.served {
		return
	}
	u := v.obj.(*unstructured.Unstructured).DeepCopy()
	u.SetResourceVersion(strconv.FormatInt(at.Revision, 10))
	x.addView(at, &view{obj: u, served: true})
}
