package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// view is what an answer has made of a stored custom resource, so that it is made once: it is selected by
// it and shown as it.
type view struct {
	// obj is the object by its schema; served says that it is of the version that is asked for.
	obj    runtime.Object
	served bool
	// data stands for obj where nothing but its JSON is needed, which takes less memory.
	data []byte
	err  error
}

// MetadataOnly reports whether clients are shown nothing but metadata, which isn't converted.
func (x *Rendering) MetadataOnly() bool {
	return strings.HasPrefix(x.Format.As, "PartialObjectMetadata")
}

// asStored reports whether the object's bytes are shown as they are, and known to be sound.
func (x *Rendering) asStored(o *storage.Object) bool {
	return x.Resource.FromStored == nil && o.SealedBy(x.Resource.Seal)
}

// view returns what has been made of an object so far; nil of one whose bytes are shown as they are.
func (x *Rendering) view(o *storage.Object) *view {
	if v := x.Views[o]; v != nil {
		return v
	}
	if x.asStored(o) {
		return nil
	}
	v := &view{}
	v.obj, v.data, v.err = registry.DecodeShown(x.Resource, o)
	v.served = v.err == nil && v.obj.(*unstructured.Unstructured).GetAPIVersion() == x.Resource.GroupVersion().String()
	if !v.served {
		v.data = nil
	}
	x.keep(o, v)
	return v
}

// keep remembers a view until it is forgotten.
func (x *Rendering) keep(o *storage.Object, v *view) {
	if x.Views == nil {
		x.Views = map[*storage.Object]*view{}
	}
	x.Views[o] = v
}

// Unsound is Server.sound of a custom resource.
func (x *Rendering) Unsound(o *storage.Object) error {
	if v := x.view(o); v != nil && status.Unconverted(v.err) == nil { // a failed conversion is reported where it is shown
		return v.err
	}
	return nil
}

// Read makes views of objects in the version that is asked for; those that have to be converted are so
// together. What can't be read at all has a view that says why.
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

// Json returns the object as JSON of the version that is asked for.
func (x *Rendering) Json(o *storage.Object) ([]byte, error) {
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

// custom returns the object in the version that is asked for.
func (x *Rendering) custom(o *storage.Object) (runtime.Object, error) {
	if err := x.Read([]*storage.Object{o}); err != nil {
		return nil, fmt.Errorf("converting %s: %w", o.Key, err)
	}
	if v := x.view(o); v != nil {
		return v.obj, v.err
	}
	return registry.DecodeSound(x.Resource, o)
}

// Shrink keeps no more of a view than is shown.
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
	v.data, err = x.Json(o)
	v.obj = nil
	return err
}

// Forget drops what the object was converted to.
func (x *Rendering) Forget(o *storage.Object) { delete(x.Views, o) }

// Revised makes the view of an object that of the same one at another revision.
func (x *Rendering) Revised(o, at *storage.Object) {
	v := x.Views[o]
	if v == nil || !v.served {
		return
	}
	u := v.obj.(*unstructured.Unstructured).DeepCopy()
	u.SetResourceVersion(strconv.FormatInt(at.Revision, 10))
	x.keep(at, &view{obj: u, served: true})
}
