package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Internal makes an error message print a value as upstream prints its internal type: these types have no JSON names,
// so all fields are printed with their Go names. Types of apimachinery have JSON names, and are printed as in requests.
func Internal(v any) any {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
		var b bytes.Buffer
		writeInternal(&b, r)
		return json.RawMessage(b.Bytes())
	}
	return v
}

// Immutable rejects a change.
func Immutable(now, was any, at *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(was, now) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, Internal(now), apivalidation.FieldImmutableErrorMsg)}
}

// Fixed rejects a change as the declarative rule +k8s:immutable does, which prints no value (V-042).
func Fixed(now, was any, at *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(was, now) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, nil, apivalidation.FieldImmutableErrorMsg)}
}

// fieldOrder is the order of an internal type's fields if it differs from the versioned one.
var fieldOrder = map[string][]string{
	"v1.PersistentVolumeSource": {"GCEPersistentDisk", "AWSElasticBlockStore", "HostPath", "Glusterfs", "NFS", "RBD",
		"Quobyte",
		"ISCSI", "FlexVolume", "Cinder", "CephFS", "FC", "Flocker", "AzureFile", "VsphereVolume", "AzureDisk",
		"PhotonPersistentDisk", "PortworxVolume", "ScaleIO", "Local", "StorageOS", "CSI"},
}

func writeInternal(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("null")
	case reflect.Pointer, reflect.Interface:
		writeInternal(b, v.Elem())
	case reflect.Struct:
		if shape, ok := shapes[v.Type()]; ok {
			writeObject(b, shape(v.Interface()))
			return
		}
		if !strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/") {
			writeJSON(b, v)
			return
		}
		b.WriteByte('{')
		writeFields(b, v)
		b.WriteByte('}')
	case reflect.Slice:
		if o, ok := v.Interface().(object); ok {
			writeObject(b, o)
			return
		}
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			writeJSON(b, v)
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			comma(b, '[')
			writeInternal(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Map:
		writeMap(b, v)
	default:
		writeJSON(b, v)
	}
}

func writeFields(b *bytes.Buffer, v reflect.Value) {
	names := fieldOrder[v.Type().String()]
	if names == nil {
		for i := range v.NumField() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	for _, name := range names {
		f, _ := v.Type().FieldByName(name)
		if f.Anonymous && strings.HasPrefix(f.Type.PkgPath(), "k8s.io/api/") {
			writeFields(b, v.FieldByName(name))
			continue
		}
		if f.Anonymous {
			writeMeta(b, v.FieldByName(name))
			continue
		}
		comma(b, '{')
		writeJSON(b, reflect.ValueOf(name))
		b.WriteByte(':')
		writeInternal(b, v.FieldByName(name))
	}
}

func writeMap(b *bytes.Buffer, v reflect.Value) {
	if v.IsNil() {
		b.WriteString("null")
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return cmp.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for _, k := range keys {
		comma(b, '{')
		writeJSON(b, reflect.ValueOf(k.String()))
		b.WriteByte(':')
		writeInternal(b, v.MapIndex(k))
	}
	b.WriteByte('}')
}

// comma writes a separator, unless the list has just been opened.
func comma(b *bytes.Buffer, opening byte) {
	if s := b.Bytes(); s[len(s)-1] != opening {
		b.WriteByte(',')
	}
}

func writeJSON(b *bytes.Buffer, v reflect.Value) {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		text, _ = json.Marshal(err.Error())
	}
	b.Write(text)
}
