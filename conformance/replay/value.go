package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object with its fields in the order of the document. Names are given to values in that order, and a
// recording is written in it. Other JSON values are []any, string, json.Number, bool and nil.
type object []field

type field struct {
	key   string
	value any
}

func (o object) get(key string) (any, bool) {
	for _, f := range o {
		if f.key == key {
			return f.value, true
		}
	}
	return nil, false
}

// with returns the object with a field added or replaced.
func (o object) with(key string, value any) object {
	o = slices.Clone(o)
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, field{key, value})
}

// MarshalJSON writes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := encode(f.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(f.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// encode returns the JSON of a value, without escapes for <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// decode reads a whole JSON document.
func decode(document []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	v, err := decodeNext(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON document")
	}
	return v, nil
}

func decodeNext(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return decodeObject(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

// decodeObject decodes an object after its opening brace. If fields have the same name, the value of the last one
// counts.
func decodeObject(d *json.Decoder) (any, error) {
	o := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeNext(d)
		if err != nil {
			return nil, err
		}
		o = o.with(fmt.Sprint(key), v) // the decoder accepts only strings as keys
	}
	_, err := d.Token()
	return o, err
}

// value is a part of a scenario that is not converted.
type value struct{ any }

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(document []byte) (err error) {
	v.any, err = decode(document)
	return err
}

// find returns the value at a path such as items/0/metadata/name, or nil if there is none.
func find(v any, path string) any {
	for part := range strings.SplitSeq(path, "/") {
		switch container := v.(type) {
		case object:
			v, _ = container.get(part)
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(container) {
				return nil
			}
			v = container[i]
		default:
			return nil
		}
	}
	return v
}
