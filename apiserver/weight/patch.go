package weight

import "bytes"

// Patch is the size of a JSON patch to an object of the kind. of is the size of the object, copies the number of
// operations that copy a part of it, and limit how many bytes they may copy together.
func (k *Kind) Patch(data []byte, of Size, copies, limit int64) Size {
	worst := k.Shape().worst
	if renames(data) {
		worst = k.worst()
	}
	size := count(data, worst)
	if bytes.Contains(data, []byte("value")) || bytes.IndexByte(data, '\\') >= 0 { // an added value may be copied as well
		of.Values, of.Bytes = of.Values+size.Values, of.Bytes+size.Bytes
	}
	if copies > 0 {
		n := min(copies*of.Values, limit/2) // a value has at least two bytes
		size.Values += n
		size.Elements += n * worst
		size.Bytes += min(copies*of.Bytes, limit)
	}
	return size
}

// renames reports whether a patch may change the object's kind. Decoders match its name regardless of case.
func renames(data []byte) bool {
	for i := 0; i+2 < len(data); i++ {
		if c := data[i]; c == '\\' || (c|' ' == 'i' && data[i+1]|' ' == 'n' && data[i+2]|' ' == 'd') {
			return true
		}
	}
	return false
}
