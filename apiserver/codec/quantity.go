package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// A quantity of a few bytes may take minutes to parse: 1e-999999999 is a number with a billion digits. No sensible
// quantity has more digits, or more digits in its exponent, than these.
const (
	maxQuantity = 256
	maxExponent = 4
)

var errQuantity = errors.New("quantities must not have more than 256 characters, or more than 4 digits in an exponent")

// CheckQuantities rejects a JSON or YAML body with such a quantity where its type has a quantity. A protobuf body must
// not have one in any field, if the type has a quantity at all.
func CheckQuantities(b Body, kind schema.GroupVersionKind) error {
	if !suspicious(b.Bytes) {
		return nil
	}
	obj, err := resources.Scheme().New(kind)
	if err != nil {
		return nil // the decoder reports it
	}
	t, data := reflect.TypeOf(obj), b.Bytes
	if !mayHaveQuantity(t) {
		return nil
	}
	switch b.Media {
	case MediaProtobuf:
		return checkWire(data)
	case MediaYAML:
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return quantities(t, v)
}

// checkWire searches for messages that contain nothing but such a number, as that of a quantity does.
func checkWire(data []byte) error {
	for i := 0; i+2 < len(data); i++ {
		if data[i] != 0x0a {
			continue
		}
		size, n := binary.Uvarint(data[i+1:])
		from := i + 1 + n
		if n <= 0 || size == 0 || size > uint64(len(data)-from) {
			continue
		}
		text := string(data[from : from+int(size)])
		if strings.Trim(text, "0123456789.+-eE") == "" {
			if err := checkQuantity(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// quantified caches hasQuantity for the types of kinds.
var quantified sync.Map

// mayHaveQuantity is hasQuantity for a kind's type.
func mayHaveQuantity(t reflect.Type) bool {
	known, ok := quantified.Load(t)
	if !ok {
		known = hasQuantity(t, map[reflect.Type]bool{})
		quantified.Store(t, known)
	}
	return known.(bool)
}

// hasQuantity reports whether a type contains a quantity.
func hasQuantity(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == quantityType || seen[t] {
		return t == quantityType
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasQuantity(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(jsonfield.Of(t).Fields, func(f jsonfield.Field) bool { return hasQuantity(f.Type, seen) })
	}
	return false
}

// suspicious reports whether the data contains something like such a quantity, which is rare.
func suspicious(data []byte) bool {
	digits, run := 0, 0 // run is the length of the characters that a number may contain
	for _, c := range data {
		switch {
		case c >= '0' && c <= '9':
			digits++
			run++
		case c == '.' || c == '+' || c == '-' || c == 'e' || c == 'E':
			digits = 0
			run++
		default:
			digits, run = 0, 0
		}
		if run > maxQuantity || digits > maxExponent && run > digits {
			return true
		}
	}
	return false
}

var quantityType = reflect.TypeFor[resource.Quantity]()

// quantities checks a tree of JSON values along the type that it is to be decoded into.
func quantities(t reflect.Type, v any) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == quantityType {
		return checkQuantity(v)
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, x := range v {
				if err := quantities(t.Elem(), x); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		for name, x := range v {
			if within := member(t, name); within != nil {
				if err := quantities(within, x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// member is the type of the field with this name; nil if there is none.
func member(t reflect.Type, name string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		if f := jsonfield.Of(t).FindFold(name); f != nil {
			return f.Type
		}
	}
	return nil
}

func checkQuantity(v any) error {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	i := strings.LastIndexAny(text, "eE")
	if len(text) > maxQuantity || i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > maxExponent {
		return errQuantity
	}
	return nil
}
