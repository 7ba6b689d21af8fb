package codec

import (
	"bytes"
	"encoding/binary"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxNesting limits the nesting of messages. The generated decoders recurse for each level, and Go can't recover from a
// stack overflow. A body of 3 MiB could have 500,000 levels. A message becomes up to two levels of JSON, of which JSON
// decoders accept 10,000.
const maxNesting = 4000

// checkNesting counts the messages that a decoder could find in the data. It returns an error if there are too many, or
// if they are nested too deep.
func checkNesting(data []byte) (values int, err error) {
	work := 0
	for depth, content := range fields(data) {
		if work += len(content); work > MaxWork || depth > maxNesting {
			return values, errNested
		}
		if values++; values > maxValues {
			return values, errValues
		}
	}
	return values, nil
}

// fields yields the content of every length-delimited field, with the number of messages around it. The types of fields
// are not known, so it reads every content as a message, as far as possible. Strings and bytes don't look like
// thousands of nested messages.
func fields(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		open := [][]byte{bytes.TrimPrefix(data, ProtobufPrefix)} // what is left of the enclosing messages
		for len(open) > 0 {
			last := len(open) - 1
			content, rest := nextField(open[last])
			if content == nil {
				open = open[:last]
				continue
			}
			if !yield(len(open), content) {
				return
			}
			open[last] = rest
			open = append(open, content)
		}
	}
}

// nextField returns the content of the first length-delimited field of a message, and the data after it. Both are nil
// if there is none, or if the data is not a message.
func nextField(data []byte) (content, rest []byte) {
	for {
		tag, n := uvarint(data)
		if n == 0 {
			return nil, nil
		}
		data = data[n:]
		value, n := uvarint(data)
		switch protowire.Type(tag & 7) {
		case protowire.BytesType:
			if n == 0 || value > uint64(len(data)-n) {
				return nil, nil
			}
			return data[n:][:value], data[n:][value:]
		case protowire.VarintType:
		case protowire.Fixed64Type:
			n = 8
		case protowire.Fixed32Type:
			n = 4
		default: // groups, which the decoder skips without recursion
			n = 0
		}
		data = data[min(n, len(data)):]
	}
}

// uvarint decodes a number as generated decoders do. Unlike binary.Uvarint and protowire, they ignore bits after the
// 64th. n is the number of bytes. It is 0 if the data does not begin with a number.
func uvarint(data []byte) (value uint64, n int) {
	for i, b := range data[:min(len(data), binary.MaxVarintLen64)] {
		if value |= uint64(b&0x7f) << (7 * i); b < 0x80 {
			return value, i + 1
		}
	}
	return 0, 0
}
