package weight

import "encoding/binary"

// nested is the maximum depth of protobuf messages. A deeper message is rejected before it is decoded.
const nested = 5000

// Protobuf is the size of a message that is decoded into the type.
func (s *Shape) Protobuf(data []byte) Size { return s.binary(data) }

// Protobuf is the size of a stored message (runtime.Unknown) that is decoded into the kind.
func (k *Kind) Protobuf(data []byte) Size {
	if k.Type == nil || k.otherIn(data) {
		n := int64(len(data)) / 2
		return Size{Elements: n * k.worst(), Values: n, Bytes: int64(len(data))}
	}
	return k.Shape().around.binary(data)
}

// otherIn reports whether a stored message names another kind: its first field has version and kind.
func (k *Kind) otherIn(data []byte) (other bool) {
	fields(data, func(n uint64, meta []byte) {
		if n != 1 {
			return
		}
		fields(meta, func(n uint64, name []byte) {
			want := [...]string{1: k.APIVersion, 2: k.Name}
			other = other || n < 3 && want[n] != "" && len(name) > 0 && string(name) != want[n]
		})
	})
	return other
}

func (s *Shape) binary(data []byte) Size {
	w := wire{}
	w.message(s, data, 0)
	return Size{Elements: w.elements, Values: w.values, Bytes: int64(len(data))}
}

// wire scans messages along a type.
type wire struct{ elements, values int64 }

// message scans the fields of a message.
func (w *wire) message(into *Shape, data []byte, depth int) {
	if depth >= nested {
		return
	}
	fields(data, func(n uint64, data []byte) {
		w.values++
		w.field(into.numbered(n), data, depth)
	})
}

// fields calls yield with the numbers and contents of a message's fields; the content of a number is nil. It stops at
// malformed data, as the decoder does.
func fields(data []byte, yield func(n uint64, data []byte)) {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return
		}
		data = data[n:]
		var size uint64
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(data); n <= 0 {
				return
			}
			yield(tag>>3, nil) // the elements of a packed list may come one by one
			data = data[n:]
			continue
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			if size, n = binary.Uvarint(data); n <= 0 {
				return
			}
			data = data[n:]
		default:
			continue
		}
		if size > uint64(len(data)) {
			return
		}
		yield(tag>>3, data[:size])
		data = data[size:]
	}
}

// field scans the content of one field.
func (w *wire) field(s *Shape, data []byte, depth int) {
	if s == nil {
		return
	}
	switch s.kind {
	case list:
		w.elements += s.size
		if s.elem.kind == leaf { // numbers may be packed, one byte each
			w.elements += s.size * int64(len(data)) * packed(s)
		}
		w.value(s.elem, data, depth)
	case table:
		w.elements += s.size + s.first
		w.message(s.around, data, depth+1)
	default:
		w.value(s, data, depth)
	}
}

// value scans the content of one value.
func (w *wire) value(s *Shape, data []byte, depth int) {
	switch s.kind {
	case pointer:
		w.elements += s.size
		w.value(s.elem, data, depth)
	case structure, either, list, table:
		w.message(s, data, depth+1)
	}
}

// packed is 1 for lists of numbers, 0 for lists of strings.
func packed(s *Shape) int64 {
	if s.size <= 8 {
		return 1
	}
	return 0
}

// numbered is the shape of a field by its number.
func (s *Shape) numbered(n uint64) *Shape {
	if s == nil {
		return nil
	}
	return s.numbers[n]
}
