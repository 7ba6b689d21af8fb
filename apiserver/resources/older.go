package resources

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// decodeAs decodes a value of one version with the Go type of another. The object has that version then.
func decodeAs(s *protobuf.Serializer, value []byte, is, as schema.GroupVersionKind) (
	runtime.Object, *schema.GroupVersionKind, error) {
	raw := &runtime.Unknown{}
	if _, _, err := s.Decode(value, nil, raw); err != nil {
		return nil, nil, err
	}
	obj, err := Scheme().New(as)
	if err != nil {
		return nil, nil, err
	}
	m, ok := obj.(interface{ Unmarshal([]byte) error })
	if !ok {
		return nil, nil, fmt.Errorf("%s has no protobuf", as)
	}
	message, err := renumber(is, raw.Raw)
	if err != nil {
		return nil, nil, err
	}
	if err := m.Unmarshal(message); err != nil {
		return nil, nil, err
	}
	amend(is, obj)
	return obj, &as, nil
}

// runtimeClassV1alpha1 has its fields in a spec.
var runtimeClassV1alpha1 = schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1alpha1", Kind: "RuntimeClass"}

// renumber returns the message of an object with the fields under the numbers that they have in v1. Those of most
// versions are the same.
func renumber(is schema.GroupVersionKind, message []byte) ([]byte, error) {
	switch {
	case is == runtimeClassV1alpha1:
		return eachSecond(message, func(to, spec []byte) ([]byte, error) {
			return appendFields(to, spec, func(n protowire.Number) protowire.Number { return n + 1 })
		})
	case is.GroupVersion().String() == rolesV1alpha1 && (is.Kind == "Role" || is.Kind == "ClusterRole"):
		return eachSecond(message, func(to, rule []byte) ([]byte, error) {
			rule, err := appendFields(nil, rule, func(n protowire.Number) protowire.Number {
				switch {
				case n > 2:
					return n - 1
				case n == 2: // attributeRestrictions, which no release of Kubernetes has read
					return 0
				}
				return n
			})
			return protowire.AppendBytes(protowire.AppendTag(to, 2, protowire.BytesType), rule), err
		})
	}
	return message, nil
}

// eachSecond returns a message with what put appends for each message that is field 2, which has the spec of a
// RuntimeClass, or a rule of a Role.
func eachSecond(message []byte, put func(to, field []byte) ([]byte, error)) (out []byte, err error) {
	err = fields(message, func(number protowire.Number, kind protowire.Type, value []byte) (err error) {
		if number != 2 || kind != protowire.BytesType {
			out = append(protowire.AppendTag(out, number, kind), value...)
			return nil
		}
		field, _ := protowire.ConsumeBytes(value)
		out, err = put(out, field)
		return err
	})
	return out, err
}

// appendFields appends the fields of a message with other numbers, and leaves out those with the number 0.
func appendFields(to, message []byte, as func(protowire.Number) protowire.Number) ([]byte, error) {
	err := fields(message, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if number = as(number); number != 0 {
			to = append(protowire.AppendTag(to, number, kind), value...)
		}
		return nil
	})
	return to, err
}

// fields calls visit with the fields of a message.
func fields(message []byte, visit func(number protowire.Number, kind protowire.Type, value []byte) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := visit(number, kind, message[tag:tag+size]); err != nil {
			return err
		}
		message = message[tag+size:]
	}
	return nil
}
