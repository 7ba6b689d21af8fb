package registry

import (
	"reflect"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// part returns the field of that name of a typed object ("Spec"), or the member of an unstructured one.
func part(obj runtime.Object, name string) any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object[lowerFirst(name)]
	}
	if f := reflect.ValueOf(obj).Elem().FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

// setPart sets a part; nil removes it.
func setPart(obj runtime.Object, name string, v any) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if v == nil {
			delete(u.Object, lowerFirst(name))
		} else {
			u.Object[lowerFirst(name)] = v
		}
		return
	}
	f := reflect.ValueOf(obj).Elem().FieldByName(name)
	switch {
	case !f.IsValid():
	case v == nil:
		f.SetZero()
	default:
		f.Set(reflect.ValueOf(v))
	}
}

// keepPart sets a part to that of old.
func keepPart(obj, old runtime.Object, name string) { setPart(obj, name, part(old, name)) }

// samePart compares a part.
func samePart(obj, old runtime.Object, name string) bool {
	return apiequality.Semantic.DeepEqual(part(obj, name), part(old, name))
}

// sameBody compares everything except metadata and, if butStatus is set, status.
func sameBody(obj, old runtime.Object, butStatus bool) bool {
	return apiequality.Semantic.DeepEqual(body(obj, butStatus), body(old, butStatus))
}

// body is a copy of the object without metadata, which shares everything else.
func body(obj runtime.Object, butStatus bool) runtime.Object {
	var out runtime.Object
	if u, ok := obj.(*unstructured.Unstructured); ok {
		content := make(map[string]any, len(u.Object))
		for name, v := range u.Object {
			if name != "metadata" {
				content[name] = v
			}
		}
		out = &unstructured.Unstructured{Object: content}
	} else {
		v := reflect.New(reflect.TypeOf(obj).Elem())
		v.Elem().Set(reflect.ValueOf(obj).Elem())
		v.Elem().FieldByName("ObjectMeta").SetZero()
		v.Elem().FieldByName("TypeMeta").SetZero()
		out = v.Interface().(runtime.Object)
	}
	if butStatus {
		setPart(out, "Status", nil)
	}
	return out
}

func lowerFirst(s string) string { return string(s[0]|0x20) + s[1:] }
