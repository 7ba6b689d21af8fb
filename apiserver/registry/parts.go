package registry

import (
	"bytes"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// part returns a field of a typed object by its Go name ("Spec"), or the corresponding member of an unstructured one.
func part(obj runtime.Object, name string) any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object[lowerFirst(name)]
	}
	if f := reflect.ValueOf(obj).Elem().FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

// setPart sets a part. A nil value removes it.
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

// keepPart sets a part to its value in old.
func keepPart(obj, old runtime.Object, name string) { setPart(obj, name, part(old, name)) }

// samePart reports whether a part is the same in both objects.
func samePart(obj, old runtime.Object, name string) bool {
	return apiequality.Semantic.DeepEqual(part(obj, name), part(old, name))
}

// sameBody reports whether everything is the same except metadata and, if butStatus is set, status.
func sameBody(obj, old runtime.Object, butStatus bool) bool {
	return apiequality.Semantic.DeepEqual(body(obj, butStatus), body(old, butStatus))
}

// body returns a shallow copy of the object without metadata and, if butStatus is set, without status.
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

// keepRawParts replaces the raw JSON in obj with that in old if both have the same value. Stored raw JSON has no white
// space, and may have other escapes than the client's, but the rules for immutable fields and for generations compare
// it byte by byte. Upstream stores raw JSON as the client sent it, in protobuf, and compares that of
// CustomResourceDefinitions by value (B-77).
func keepRawParts(obj, old runtime.Object) {
	if reflect.TypeOf(obj) == reflect.TypeOf(old) {
		keepRaw(reflect.ValueOf(obj), reflect.ValueOf(old))
	}
}

// keepRaw does the same for a value in obj (now) and its old value (was). It reports whether it modified the new one.
func keepRaw(now, was reflect.Value) (changed bool) {
	if !hasRaw(now.Type()) {
		return false
	}
	switch now.Kind() {
	case reflect.Pointer:
		return !now.IsNil() && !was.IsNil() && keepRaw(now.Elem(), was.Elem())
	case reflect.Slice:
		for i := range min(now.Len(), was.Len()) {
			changed = keepRaw(now.Index(i), was.Index(i)) || changed
		}
	case reflect.Map:
		for it := now.MapRange(); it.Next(); {
			before := was.MapIndex(it.Key())
			value := reflect.New(now.Type().Elem()).Elem()
			value.Set(it.Value())
			if before.IsValid() && keepRaw(value, before) {
				now.SetMapIndex(it.Key(), value)
				changed = true
			}
		}
	case reflect.Struct:
		if isRaw(now.Type()) {
			if changed = sameJSON(now.FieldByName("Raw").Bytes(), was.FieldByName("Raw").Bytes()); changed {
				now.Set(was)
			}
			return changed
		}
		for i := range now.NumField() {
			changed = keepRaw(now.Field(i), was.Field(i)) || changed
		}
	}
	return changed
}

// sameJSON reports whether two encodings differ but have the same value.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return false
	}
	var now, was any
	return kjson.UnmarshalCaseSensitivePreserveInts(a, &now) == nil &&
		kjson.UnmarshalCaseSensitivePreserveInts(b, &was) == nil && reflect.DeepEqual(now, was)
}

func isRaw(t reflect.Type) bool {
	return t == reflect.TypeFor[runtime.RawExtension]() || t == reflect.TypeFor[apiextensionsv1.JSON]()
}

// hasRaw reports whether values of a type may contain raw JSON.
var hasRaw = entry.Reach(isRaw)
