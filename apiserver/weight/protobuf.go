package weight

import "encoding/binary"

// nested is how deep protobuf messages are read. What is deeper is rejected before it is decoded.
const nested = 5000

// Protobuf is the size of a message that is decoded into the type.
func (s *Shape) Protobuf(data []byte) Size {
	w := wire{}
	w.message(s, data, 0)
	return Size{Elements: w.elements, Values: w.values, Bytes: int64(len(data))}
}

// wire reads messages along a type.
type wire struct{ elements, values int64 }

// message reads the fields of a message. What isn't well-formed ends it, as it ends the decoder.
func (w *wire) message(into *Shape, data []byte, depth int) {
	for len(data) > 0 && depth < nested {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return
		}
		data = data[n:]
		w.values++
		var size uint64
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(data); n <= 0 {
				return
			}
			w.field(into.numbered(tag>>3), nil, depth) // a packed list may come one by one
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
		w.field(into.numbered(tag>>3), data[:size], depth)
		data = data[size:]
	}
}

// field reads what one field has.
func (w *wire) field(s *Shape, data []byte, depth int) {
	if s == nil {
		return
	}
	switch s.kind {
	case list:
		w.elements += s.size
		if s.elem.kind == leaf { // numbers may be packed, a byte each
			w.elements += s.size * int64(len(data)) * packed(s)
		}
		w.value(s.elem, data, depth)
	case table:
		w.elements += s.size + s.first
		w.value(s.elem, after(data), depth)
	default:
		w.value(s, data, depth)
	}
}

// value reads what is decoded into one value.
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

// after is the second field of a map's entry.
func after(data []byte) []byte {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return nil
		}
		data = data[n:]
		if tag&7 != 2 {
			return nil
		}
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil
		}
		if tag>>3 == 2 {
			return data[n : n+int(size)]
		}
		data = data[n+int(size):]
	}
	return nil
}

// numbered is the shape of a field by its number.
func (s *Shape) numbered(n uint64) *Shape {
	if s == nil {
		return nil
	}
	return s.numbers[n]
}
