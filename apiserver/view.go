package apiserver

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

// metadataOnly reports whether clients are shown nothing but metadata, which isn't converted.
func (x *rendering) metadataOnly() bool { return strings.HasPrefix(x.f.as, "PartialObjectMetadata") }

// asStored reports whether the object's bytes are shown as they are, and known to be sound.
func (x *rendering) asStored(o *storage.Object) bool {
	return x.res.FromStored == nil && o.SealedBy(x.res.Seal)
}

// view returns what has been made of an object so far; nil of one whose bytes are shown as they are.
func (x *rendering) view(o *storage.Object) *view {
	if v := x.views[o]; v != nil {
		return v
	}
	if x.asStored(o) {
		return nil
	}
	v := &view{}
	v.obj, v.data, v.err = registry.DecodeShown(x.res, o)
	v.served = v.err == nil && v.obj.(*unstructured.Unstructured).GetAPIVersion() == x.res.GroupVersion().String()
	if !v.served {
		v.data = nil
	}
	x.keep(o, v)
	return v
}

// keep remembers a view until it is forgotten.
func (x *rendering) keep(o *storage.Object, v *view) {
	if x.views == nil {
		x.views = map[*storage.Object]*view{}
	}
	x.views[o] = v
}

// unsound is Server.sound of a custom resource.
func (x *rendering) unsound(o *storage.Object) error {
	if v := x.view(o); v != nil && status.Unconverted(v.err) == nil { // of a failed conversion whoever shows it is told
		return v.err
	}
	return nil
}

// read makes views of objects in the version that is asked for; those that have to be converted are so
// together. What can't be read at all has a view that says why.
func (x *rendering) read(objs []*storage.Object) error {
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
	served, err := x.res.Serve(stored)
	if err != nil {
		return err
	}
	for i, v := range others {
		served[i].GetObjectKind().SetGroupVersionKind(x.res.GroupVersionKind())
		v.obj, v.served = served[i], true
	}
	return nil
}

// json returns the object as JSON of the version that is asked for.
func (x *rendering) json(o *storage.Object) ([]byte, error) {
	if err := x.read([]*storage.Object{o}); err != nil {
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
func (x *rendering) custom(o *storage.Object) (runtime.Object, error) {
	if err := x.read([]*storage.Object{o}); err != nil {
		return nil, fmt.Errorf("converting %s: %w", o.Key, err)
	}
	if v := x.view(o); v != nil {
		return v.obj, v.err
	}
	return registry.DecodeSound(x.res, o)
}

// shrink keeps no more of a view than is shown.
func (x *rendering) shrink(o *storage.Object) error {
	v := x.views[o]
	switch {
	case v == nil || v.err != nil:
		return nil
	case x.metadataOnly():
		x.forget(o)
		return nil
	case x.f.media != codec.MediaJSON || x.f.as != "":
		v.data = nil
		return nil
	}
	var err error
	v.data, err = x.json(o)
	v.obj = nil
	return err
}

func (x *rendering) forget(o *storage.Object) { delete(x.views, o) }

// revised makes the view of an object that of the same one at another revision.
func (x *rendering) revised(o, at *storage.Object) {
	v := x.views[o]
	if v == nil || !v.served {
		return
	}
	u := v.obj.(*unstructured.Unstructured).DeepCopy()
	u.SetResourceVersion(strconv.FormatInt(at.Revision, 10))
	x.keep(at, &view{obj: u, served: true})
}
