package codec

import "encoding/binary"

// maxNesting limits the nesting of messages. The generated decoders recurse for each level, and a stack overflow can't
// be recovered from: three megabytes can have 500,000 levels. A message is up to two levels of JSON, of which decoders
// accept 10,000.
const maxNesting = 4000

// checkNesting rejects bytes in which a decoder could find too many messages or such that are nested too deep, and
// counts them. Types are not known here, so it treats every length-delimited field as a message as far as possible. Other
// contents don't look like thousands of nested messages.
func checkNesting(data []byte) (values int, err error) {
	ends := []int{len(data)}  // of the enclosing messages
	for at, work := 0, 0; ; { // messages and strings look the same
		if at = skipShallow(data[:ends[len(ends)-1]], at); at < 0 {
			// This message has ended: continue after it.
			at, ends = ends[len(ends)-1], ends[:len(ends)-1]
			if len(ends) == 0 {
				return values, nil
			}
			continue
		}
		size, n := binary.Uvarint(data[at:])
		at += n
		if work += int(size); work > MaxWork || len(ends) > maxNesting {
			return values, errNested
		}
		if values++; values > maxValues {
			return values, errValues
		}
		ends = append(ends, at+int(size))
	}
}

// The wire types of a field's tag.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// skipShallow skips numbers from at on, and returns the position of the length of the next length-delimited field; -1
// if there is none or the data is no message.
func skipShallow(data []byte, at int) int {
	for at < len(data) {
		tag, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return -1
		}
		at += n
		switch tag & 7 {
		case wireVarint:
			_, n = binary.Uvarint(data[at:])
		case wireFixed64:
			n = 8
		case wireFixed32:
			n = 4
		case wireBytes:
			size, n := binary.Uvarint(data[at:])
			if n <= 0 || size > uint64(len(data)-at-n) {
				return -1
			}
			return at
		default: // groups, which the decoder skips without recursion
			n = 0
		}
		if n <= 0 && tag&7 == wireVarint {
			return -1
		}
		at += n
	}
	return -1
}
