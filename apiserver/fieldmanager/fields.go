package fieldmanager

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// fieldWriter encodes the set of fields that a new object has in addition to an empty one. The result is the FieldsV1
// that structured-merge-diff gets by comparing the two, in a tenth of the time. It is unsure in all cases in which the
// result may differ.
type fieldWriter struct {
	out []byte
	// unsure says that the result must not be used.
	unsure bool
}

// added encodes a value that the empty object does not have. Then all that it contains is new, including itself.
func (w *fieldWriter) added(v reflect.Value, sh *shape) {
	v = behind(v)
	switch {
	case sh.form == opaque:
		w.unsure = true
	case !v.IsValid() || sh.form == leaf || isEmpty(v, sh):
		w.out = append(w.out, "{}"...)
	case sh.atomic:
		w.unsure = w.unsure || sh.fragile
		w.out = append(w.out, "{}"...)
	default:
		w.out = append(w.out, `{".":{},`...)
		w.contents(v, sh)
		w.close()
	}
}

// changed encodes a value whose counterpart in the empty object is the zero value of its type, and reports whether
// there was anything to encode.
func (w *fieldWriter) changed(v reflect.Value, sh *shape) bool {
	if v.IsZero() || w.unsure {
		return false
	}
	null := v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice || v.Kind() == reflect.Map
	inner := behind(v)
	switch {
	case sh.form == opaque:
		w.unsure = true
		return false
	case null && sh.ownJSON && inner.IsZero(): // a time that is encoded as null
		w.unsure = true
		return false
	case sh.form == leaf && !sh.ownJSON, null && sh.form == leaf, null && isEmpty(inner, sh):
		w.out = append(w.out, "{}"...)
		return true
	case sh.atomic || sh.form == leaf:
		w.unsure = w.unsure || sh.fragile && sh.atomic
		if !null && w.same(v) {
			return false
		}
		w.out = append(w.out, "{}"...)
		return true
	case null:
		w.out = append(w.out, '{')
		w.contents(inner, sh)
		w.close()
		return true
	}
	return w.members(v, sh)
}

// members encodes the fields of a structure that the empty object has, too.
func (w *fieldWriter) members(v reflect.Value, sh *shape) bool {
	w.out = append(w.out, '{')
	start := len(w.out)
	for i := range sh.fields {
		f := &sh.fields[i]
		field := f.In(v)
		before := len(w.out)
		w.out = append(w.out, f.written...)
		switch {
		case f.present:
			if !w.changed(field, f.shape) {
				w.out = w.out[:before]
				continue
			}
		case f.Omits(field):
			w.out = w.out[:before]
			continue
		default:
			w.added(field, f.shape)
		}
		w.out = append(w.out, ',')
	}
	if len(w.out) == start {
		w.out = w.out[:start-1]
		return false
	}
	w.close()
	return true
}

// contents encodes the content of a value, each part with a trailing comma.
func (w *fieldWriter) contents(v reflect.Value, sh *shape) {
	switch sh.form {
	case structure:
		for i := range sh.fields {
			f := &sh.fields[i]
			if field := f.In(v); !f.Omits(field) {
				w.out = append(w.out, f.written...)
				w.added(field, f.shape)
				w.out = append(w.out, ',')
			}
		}
	case mapping:
		w.entries(v, sh)
	case set:
		w.set(v)
	case keyed:
		w.elements(v, sh)
	}
}

// close ends an object and replaces the last comma.
func (w *fieldWriter) close() { w.out[len(w.out)-1] = '}' }

func (w *fieldWriter) entries(v reflect.Value, sh *shape) {
	var array [16]string
	names := array[:0]
	for it := v.MapRange(); it.Next(); {
		names = append(names, it.Key().String())
	}
	slices.Sort(names)
	for _, name := range names {
		w.plain(name)
		w.out = append(append(append(w.out, `"f:`...), name...), `":`...)
		if sh.element.form == leaf {
			w.out = append(w.out, "{}"...)
		} else {
			w.added(v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())), sh.element)
		}
		w.out = append(w.out, ',')
	}
}

// plain checks that JSON encodes a string without escapes.
func (w *fieldWriter) plain(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			w.unsure = true
			return
		}
	}
}

// set encodes the values of a list of strings or numbers.
func (w *fieldWriter) set(v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.String {
		numbers := make([]int64, v.Len())
		for i := range numbers {
			numbers[i] = v.Index(i).Int()
		}
		slices.Sort(numbers)
		for _, n := range slices.Compact(numbers) {
			w.out = append(strconv.AppendInt(append(w.out, `"v:`...), n, 10), `":{},`...)
		}
		return
	}
	texts := make([]string, v.Len())
	for i := range texts {
		texts[i] = v.Index(i).String()
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		w.plain(text)
		w.out = append(append(append(w.out, `"v:\"`...), text...), `\"":{},`...)
	}
}

// element is an element of a keyed list.
type element struct {
	index int
	// keys are the values of the list's keys, in their order.
	keys [4]keyValue
}

type keyValue struct {
	text   string
	number int64
}

func (w *fieldWriter) elements(v reflect.Value, sh *shape) {
	if len(sh.keys) > len(element{}.keys) {
		w.unsure = true
		return
	}
	var array [4]element
	all := array[:0]
	for i := range v.Len() {
		e := element{index: i}
		for k := range sh.keys {
			e.keys[k] = w.key(v.Index(i), &sh.keys[k])
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, compareKeys)
	for i := 0; i < len(all); {
		same := i + 1
		for same < len(all) && all[same].keys == all[i].keys {
			same++
		}
		w.name(sh.keys, all[i].keys[:])
		if same > i+1 {
			w.out = append(w.out, "{}"...) // ambiguous: two elements have the same keys
		} else {
			w.added(v.Index(all[i].index), sh.element)
		}
		w.out = append(w.out, ',')
		i = same
	}
}

// compareKeys compares keys of the same list; both are strings, or both are numbers.
func compareKeys(a, b element) int {
	for i := range a.keys {
		if c := cmp.Or(cmp.Compare(a.keys[i].text, b.keys[i].text), cmp.Compare(a.keys[i].number, b.keys[i].number)); c != 0 {
			return c
		}
	}
	return 0
}

// key decodes a key of an element.
func (w *fieldWriter) key(v reflect.Value, k *member) keyValue {
	field := k.In(v)
	if k.Omits(field) {
		if text, ok := k.preset.(string); ok && field.Kind() == reflect.String {
			w.plain(text)
			return keyValue{text: text}
		}
		w.unsure = true
		return keyValue{}
	}
	switch field.Kind() {
	case reflect.String:
		w.plain(field.String())
		return keyValue{text: field.String()}
	case reflect.Int32, reflect.Int64:
		return keyValue{number: field.Int()}
	}
	w.unsure = true
	return keyValue{}
}

func (w *fieldWriter) name(keys []member, values []keyValue) {
	w.out = append(w.out, `"k:{`...)
	for i := range keys {
		w.out = append(append(append(w.out, `\"`...), keys[i].written...), `\":`...)
		if keys[i].Type.Kind() == reflect.String {
			w.out = append(append(append(w.out, `\"`...), values[i].text...), `\"`...)
		} else {
			w.out = strconv.AppendInt(w.out, values[i].number, 10)
		}
		w.out = append(w.out, ',')
	}
	w.close()
	w.out = append(w.out, `":`...)
}

// same reports whether a value and the zero value of its type have the same JSON.
func (w *fieldWriter) same(v reflect.Value) bool {
	if !v.CanAddr() {
		w.unsure = true
		return false
	}
	a, err := value.NewValueReflect(v.Addr().Interface())
	if err != nil {
		w.unsure = true
		return false
	}
	b, err := value.NewValueReflect(reflect.New(v.Type()).Interface())
	if err != nil {
		w.unsure = true
		return false
	}
	return value.Equals(a, b)
}

// isEmpty reports whether the JSON of a value has no content.
func isEmpty(v reflect.Value, sh *shape) bool {
	switch sh.form {
	case mapping, keyed, set:
		return v.Len() == 0
	case structure:
		for i := range sh.fields {
			if f := &sh.fields[i]; !f.Omits(f.In(v)) {
				return false
			}
		}
		return true
	}
	return false
}

// behind follows pointers; the result is invalid for nil.
func behind(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}
