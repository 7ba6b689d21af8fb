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
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(stored, &head); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	gvk := r.Stored
	if head.APIVersion == r.GroupVersion().String() {
		gvk = r.GroupVersionKind()
	}
	obj, err := Scheme().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored, obj); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if r.FromStored == nil || gvk == r.GroupVersionKind() {
		return obj, nil
	}
	return r.FromStored(obj)
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
