package dynamic

import (
	"context"
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// view has the objects of a request in the versions of their resource. It converts them when they are needed.
type view struct {
	a *admission.Attributes
	// ctx is the context of the request, which ends conversions.
	ctx context.Context
	// object and old are the converted objects, by the resource that has their version. An absent object is nil.
	object, old map[*resources.Resource]runtime.Object
	// latest is the version of the latest change that is not yet in the object of the request, or nil.
	latest *resources.Resource
}

func newView(ctx context.Context, a *admission.Attributes) *view {
	return &view{
		a: a, ctx: ctx, object: map[*resources.Resource]runtime.Object{}, old: map[*resources.Resource]runtime.Object{},
	}
}

// whole reports whether the body of the request is an object of its resource. Other bodies have only one version.
func whole(a *admission.Attributes) bool {
	return a.Shape == nil && a.Kind == a.Resource.GroupVersionKind() && !a.Resource.Virtual
}

// kind returns the kind of the objects in the version of a resource.
func (v *view) kind(in *resources.Resource) schema.GroupVersionKind {
	if whole(v.a) {
		return in.GroupVersionKind()
	}
	return v.a.Kind
}

// Object returns the object in a version, or nil if there is none. Callers must not change it.
func (v *view) Object(in *resources.Resource) (runtime.Object, error) {
	if obj, ok := v.object[in]; ok {
		return obj, nil
	}
	if err := v.flush(); err != nil {
		return nil, err
	}
	obj, err := v.shown(in, v.a.Object)
	if err == nil {
		v.object[in] = obj
	}
	return obj, err
}

// AsSent returns the object, with all changes, and the stored object, each in the version that it has without
// conversion. Each may be nil. Callers must not change them.
func (v *view) AsSent() (object, old runtime.Object, err error) {
	if v.a.Shape != nil {
		if object, err = v.Object(v.a.Resource); err == nil {
			old, err = v.Old(v.a.Resource)
		}
		return object, old, err
	}
	if object = v.a.Object; v.latest != nil {
		object = v.object[v.latest]
	}
	old, err = v.stored()
	return object, old, err
}

func (v *view) stored() (runtime.Object, error) {
	if v.a.Stored != nil {
		return v.a.Stored()
	}
	return v.a.Old, nil
}

// Old returns the stored object in a version, or nil if there is none. Callers must not change it.
func (v *view) Old(in *resources.Resource) (runtime.Object, error) {
	if obj, ok := v.old[in]; ok {
		return obj, nil
	}
	stored, err := v.stored()
	if err != nil {
		return nil, err
	}
	obj, err := v.shown(in, stored)
	if err == nil {
		v.old[in] = obj
	}
	return obj, err
}

// shown returns an object of the request in a version.
func (v *view) shown(in *resources.Resource, obj runtime.Object) (out runtime.Object, err error) {
	switch {
	case obj == nil || reflect.ValueOf(obj).IsNil():
		return nil, nil
	case v.a.Shape != nil:
		out, err = v.a.Shape.Show(obj)
	case whole(v.a):
		out, err = converted(v.ctx, v.a.Resource, in, obj)
	default:
		out = obj
	}
	if err == nil {
		out.GetObjectKind().SetGroupVersionKind(v.kind(in))
	}
	return out, err
}

// converted converts an object of a request for res, which has the version that writes use, to the version of another
// entry of the resource.
func converted(ctx context.Context, res, in *resources.Resource, obj runtime.Object) (runtime.Object, error) {
	switch {
	case res.Custom && res.Listed() == in.Listed():
		return obj, nil
	case res.Custom:
		return served(ctx, in, obj)
	}
	if in.FromStored != nil {
		return in.FromStored(obj)
	}
	return obj, nil
}

// restored is the inverse of converted.
func restored(ctx context.Context, res, in *resources.Resource, obj runtime.Object) (runtime.Object, error) {
	switch {
	case res.Custom && res.Listed() == in.Listed():
		return obj, nil
	case res.Custom:
		return served(ctx, res, obj)
	}
	var err error
	if in.ToStored != nil {
		obj, err = in.ToStored(obj)
	}
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(res.Stored)
	if d := res.Strategy.Default; d != nil {
		d(obj)
	}
	return obj, nil
}

// served converts a custom resource to the version of an entry.
func served(ctx context.Context, in *resources.Resource, obj runtime.Object) (runtime.Object, error) {
	out, err := in.During(ctx).Serve([]runtime.Object{obj.DeepCopyObject()})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// empty returns an empty object, into which a changed object of a version is decoded.
func (v *view) empty(in *resources.Resource) (runtime.Object, error) {
	if whole(v.a) {
		return in.New(), nil
	}
	return resources.Scheme().New(v.a.Kind)
}

// decode decodes a changed object of a version, and sets its defaults. It drops unknown fields (L-90, L-92).
func (v *view) decode(in *resources.Resource, data []byte) (runtime.Object, error) {
	obj, err := v.empty(in)
	if err != nil {
		return nil, err
	}
	if in.Custom && whole(v.a) {
		err = json.Unmarshal(data, obj)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
	}
	if err != nil {
		return nil, err
	}
	return obj, v.complete(in, obj)
}

// complete sets the defaults of a changed object.
func (v *view) complete(in *resources.Resource, obj runtime.Object) error {
	if !whole(v.a) {
		return nil
	}
	if in.Coerce != nil {
		if _, err := in.Coerce(obj); err != nil {
			return err
		}
	}
	if d := in.Strategy.Default; d != nil {
		d(obj)
	}
	obj.GetObjectKind().SetGroupVersionKind(v.kind(in))
	return nil
}

// Change replaces the object by a changed one in a version.
func (v *view) Change(in *resources.Resource, obj runtime.Object) {
	clear(v.object)
	v.object[in], v.latest = obj, in
}

// flush copies the latest change into the object of the request.
func (v *view) flush() error {
	if v.latest == nil {
		return nil
	}
	obj, in := v.object[v.latest], v.latest
	v.latest = nil
	if v.a.Shape != nil {
		return v.a.Shape.Put(v.a.Object, obj)
	}
	if whole(v.a) {
		var err error
		if obj, err = restored(v.ctx, v.a.Resource, in, obj.DeepCopyObject()); err != nil {
			return err
		}
	}
	reflect.ValueOf(v.a.Object).Elem().Set(reflect.ValueOf(obj).Elem())
	return nil
}
