package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Typed sets the kind of an object, and returns it.
func Typed(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj
}

// CannotConvert returns the error for an object that can't be converted because it is of another kind.
func CannotConvert(obj runtime.Object, to string) error {
	return fmt.Errorf("converting %T to %s: unknown conversion", obj, to)
}

// Recast converts between two versions of a kind with the same JSON; T is the target version.
func Recast[T any, P interface {
	*T
	runtime.Object
}](obj runtime.Object) (runtime.Object, error) {
	if _, ok := obj.(P); ok {
		return obj, nil
	}
	out := P(new(T))
	data, err := json.Marshal(obj)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return nil, fmt.Errorf("converting %T to %T: %w", obj, out, err)
	}
	gvks, _, err := Scheme().ObjectKinds(out)
	if err != nil {
		return nil, err
	}
	return Typed(out, gvks[0]), nil
}

// Decode decodes a value of r's collection and returns it in the served version. The value's apiVersion is the stored
// or the served version. A value without an apiVersion has the stored version.
func (r *Resource) Decode(stored []byte) (runtime.Object, error) {
	obj, gvk, err := r.decode(stored)
	if err != nil || r.FromStored == nil || gvk == r.GroupVersionKind() {
		return obj, err
	}
	return r.FromStored(obj)
}

// DecodeStored is Decode, but returns the stored version, for a resource with ToStored.
func (r *Resource) DecodeStored(stored []byte) (runtime.Object, error) {
	obj, gvk, err := r.decode(stored)
	if err != nil || gvk == r.Stored {
		return obj, err
	}
	return r.ToStored(obj)
}

// decode decodes a value to its own version.
func (r *Resource) decode(stored []byte) (runtime.Object, schema.GroupVersionKind, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	err, gvk := json.Unmarshal(stored, &head), r.Stored
	if head.APIVersion == r.GroupVersion().String() {
		gvk = r.GroupVersionKind()
	}
	var obj runtime.Object
	if err == nil {
		obj, err = Scheme().New(gvk)
	}
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(stored, obj)
	}
	if err != nil {
		return nil, gvk, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	return obj, gvk, nil
}

// During returns the entry for one request. Its conversions end with the request's context.
func (r *Resource) During(ctx context.Context) *Resource {
	if r.Bind == nil {
		return r
	}
	return r.Listed().Bind(ctx)
}

// Copy returns a copy of an entry of the table, for Bind.
func (r *Resource) Copy() *Resource {
	out := *r
	out.bound = r
	return &out
}

// Listed returns the entry in the table, of which r may be a copy. Only entries in the table may be compared or used as
// keys.
func (r *Resource) Listed() *Resource {
	if r.bound != nil {
		return r.bound
	}
	return r
}
