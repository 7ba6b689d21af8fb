package fieldmanager

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// errUnused is the error of methods that field managers never call.
var errUnused = errors.New("not used by field managers")

// convertor creates, defaults and converts objects of a resource. The versions of the resource are the entries of table
// with its collection.
type convertor struct {
	res   *resources.Resource
	table *resources.Types
}

// fieldConvertor has the methods that a field manager needs besides schemas.
type fieldConvertor interface {
	runtime.ObjectConvertor
	runtime.ObjectCreater
	runtime.ObjectDefaulter
}

var _ fieldConvertor = (*convertor)(nil)

// view is a stored object with its conversion to the served version. The field manager reads and writes the metadata of
// the stored object. structured-merge-diff uses only the conversion.
type view struct {
	object
	versioned runtime.Object
}

// New returns an empty object of the resource's kind.
func (c *convertor) New(schema.GroupVersionKind) (runtime.Object, error) { return c.res.New(), nil }

// Default sets the defaults of an object of the served version.
func (c *convertor) Default(obj runtime.Object) {
	if d := c.res.Strategy.Default; d != nil {
		d(obj)
	}
}

// ConvertToVersion converts an object to a group version, or to the stored version if the target is the internal
// version. It may return the object itself, or one that shares memory with it. If a built-in kind does not have the
// version, the error is "not registered".
func (c *convertor) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("converting to %v: %w", target, errUnused)
	}
	if v, ok := obj.(*view); ok {
		if gv == c.res.GroupVersion() {
			return v.versioned, nil
		}
		obj = v.object
	}
	obj, err := c.typed(obj)
	if err != nil {
		return nil, err
	}
	internal := gv.Version == runtime.APIVersionInternal
	switch {
	case c.res.Custom && internal: // a custom resource has no internal version
		return c.direct(obj, c.res.GroupVersion())
	case c.res.Custom:
		return c.direct(obj, gv)
	case internal:
		return c.stored(obj)
	}
	return c.served(obj, gv)
}

// typed converts an object of a field manager to its Go type, if its kind is built in.
func (c *convertor) typed(obj runtime.Object) (runtime.Object, error) {
	if d, ok := obj.(*deferred); ok {
		obj = d.object()
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || c.res.Custom {
		return obj, nil
	}
	gvk := u.GroupVersionKind()
	res := c.version(gvk.GroupVersion())
	if res == nil {
		return nil, runtime.NewNotRegisteredErrForKind("managed fields", gvk)
	}
	out := res.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %v: %v", gvk, err)
	}
	return out, nil
}

// version returns the entry of the same resource in another version, or nil.
func (c *convertor) version(gv schema.GroupVersion) *resources.Resource {
	if gv == c.res.GroupVersion() {
		return c.res
	}
	res := c.table.Lookup(gv.Group, gv.Version, c.res.Plural)
	if res != nil && res.Collection == c.res.Collection {
		return res
	}
	for _, res := range c.res.Unserved { // AX pkg/apiserver/customresource_handler.go: buildOpenAPIModelsForApply
		if res.GroupVersion() == gv {
			return res
		}
	}
	return nil
}

// stored converts an object of any served version to the stored version.
func (c *convertor) stored(obj runtime.Object) (runtime.Object, error) {
	from := cmp.Or(c.version(obj.GetObjectKind().GroupVersionKind().GroupVersion()), c.res)
	if from.Coerce != nil {
		if _, err := from.Coerce(obj); err != nil {
			return nil, err
		}
	}
	if from.ToStored == nil {
		return stamped(obj, from.Stored), nil
	}
	return from.ToStored(obj)
}

func (c *convertor) served(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	to := c.version(gv)
	if to == nil {
		return nil, runtime.NewNotRegisteredErrForKind("managed fields", gv.WithKind(c.res.Kind))
	}
	if to != c.res || c.res.ToStored != nil && reflect.TypeOf(obj) != reflect.TypeOf(to.New()) {
		var err error
		if obj, err = c.stored(obj); err != nil {
			return nil, err
		}
	}
	if to.FromStored != nil {
		var err error
		if obj, err = to.FromStored(obj); err != nil {
			return nil, err
		}
	}
	return stamped(obj, to.GroupVersionKind()), nil
}

// direct converts a custom resource from any version to any other in one step. It keeps fields that the other version's
// schema does not have, so that the type converter can report them (AX pkg/apiserver/customresource_handler.go:
// scopeWithFieldManager uses the safe converter, which does not prune).
func (c *convertor) direct(obj runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	if obj.GetObjectKind().GroupVersionKind().GroupVersion() == gv {
		return obj, nil
	}
	if c.version(gv) == nil { // unlike "not registered", this error makes an apply fail (B-63)
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gv)
	}
	return c.res.Convert(obj, gv)
}

// stamped returns the object if it has the kind, otherwise a shallow copy with the kind.
func stamped(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	if obj.GetObjectKind().GroupVersionKind() == gvk {
		return obj
	}
	obj = shallow(obj)
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj
}

// shallow copies an object as far as needed to set its kind and metadata.
func shallow(obj runtime.Object) runtime.Object {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		content := make(map[string]any, len(u.Object)+2)
		for k, v := range u.Object {
			if m, ok := v.(map[string]any); ok && k == "metadata" {
				meta := make(map[string]any, len(m))
				for k, v := range m {
					meta[k] = v
				}
				v = meta
			}
			content[k] = v
		}
		return &unstructured.Unstructured{Object: content}
	}
	v := reflect.New(reflect.TypeOf(obj).Elem())
	v.Elem().Set(reflect.ValueOf(obj).Elem())
	return v.Interface().(runtime.Object)
}

// Convert is not called by field managers.
func (c *convertor) Convert(in, out, context any) error { return errUnused }

// ConvertFieldLabel is not called by field managers.
func (c *convertor) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errUnused
}
