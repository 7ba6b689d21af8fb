package patch

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/codec"
)

// merge returns a copy of cur that a merge patch was applied to; ok is false if that takes the way by JSON. The copy
// shares with cur what the patch leaves as it is.
func (p *Patch) merge(cur runtime.Object) (next runtime.Object, ok bool) {
	if codec.Suspicious(p.Bytes) {
		return nil, false
	}
	from := reflect.ValueOf(cur).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to.Interface().(runtime.Object), mergeStruct(to.Elem(), p.Bytes)
}

// document reads an object; ok is false if it is none, or has a name twice.
func document(raw []byte) (doc map[string]json.RawMessage, ok bool) {
	strict, err := kjson.UnmarshalStrict(raw, &doc)
	return doc, err == nil && len(strict) == 0 && doc != nil
}

func mergeStruct(v reflect.Value, raw []byte) bool {
	doc, ok := document(raw)
	if !ok {
		return false
	}
	fields := formOf(v.Type()).fields
	for name, raw := range doc {
		i, ok := fields[name]
		if !ok || !mergeValue(v.Field(i), raw) {
			return false
		}
	}
	return true
}

// mergeValue merges JSON into a value that may be set. It writes to nothing that the value points to.
func mergeValue(v reflect.Value, raw []byte) bool {
	t := v.Type()
	switch {
	case string(raw) == "null":
		v.SetZero()
		return true
	case formOf(t).ownJSON, t.Kind() == reflect.Pointer && plain(t.Elem()):
	case t.Kind() == reflect.Pointer:
		inner := reflect.New(t.Elem())
		if !v.IsNil() {
			inner.Elem().Set(v.Elem())
		}
		v.Set(inner)
		return mergeValue(inner.Elem(), raw)
	case t.Kind() == reflect.Struct:
		return mergeStruct(v, raw)
	case t.Kind() == reflect.Map:
		return mergeMap(v, raw)
	}
	return replace(v, raw)
}

func mergeMap(v reflect.Value, raw []byte) bool {
	doc, ok := document(raw)
	if t := v.Type(); !ok || t.Key().Kind() != reflect.String {
		return false
	}
	merged := reflect.MakeMapWithSize(v.Type(), v.Len()+len(doc))
	for it := v.MapRange(); it.Next(); {
		merged.SetMapIndex(it.Key(), it.Value())
	}
	for name, raw := range doc {
		element := reflect.Value{} // takes the name out
		if string(raw) != "null" {
			element = reflect.New(v.Type().Elem()).Elem()
			if !replace(element, raw) {
				return false
			}
		}
		merged.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
	}
	v.Set(merged)
	return true
}

// replace reads what stands for itself: a text, a number, or a list of them.
func replace(v reflect.Value, raw []byte) bool {
	t := v.Type()
	if t == reflect.TypeFor[runtime.RawExtension]() { // its bytes are kept, and the way by JSON may write them in another way
		return false
	}
	switch raw[0] {
	case '{':
		return false
	case '[':
		list := t.Kind() == reflect.Slice && plain(t.Elem()) && t.Elem().Kind() != reflect.Uint8 && !formOf(t).ownJSON
		if !list || strings.Contains(string(raw), "null") {
			return false
		}
	}
	v.SetZero()
	strict, err := kjson.UnmarshalStrict(raw, v.Addr().Interface())
	return err == nil && len(strict) == 0
}

// plain reports whether values of the type are texts, numbers or truths, and no others.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8:
		return !formOf(t).ownJSON
	}
	return false
}

// form is what has to be known of a type.
type form struct {
	// ownJSON says that values are written and read by rules of their own.
	ownJSON bool
	// fields are those of a structure that are one field of JSON each, by their names there. What stands for kind
	// and version isn't among them.
	fields map[string]int
}

var forms sync.Map

func formOf(t reflect.Type) *form {
	if known, ok := forms.Load(t); ok {
		return known.(*form)
	}
	m := &form{}
	for _, is := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()} {
		m.ownJSON = m.ownJSON || t.Implements(is) || reflect.PointerTo(t).Implements(is)
	}
	if t.Kind() == reflect.Struct {
		m.fields = map[string]int{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "" && name != "-" && !strings.Contains(options, "inline") {
				m.fields[name] = i
			}
		}
	}
	forms.Store(t, m)
	return m
}
