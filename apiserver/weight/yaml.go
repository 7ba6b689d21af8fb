package weight

import "bytes"

// yamlFactor is how much more than JSON's a value of YAML takes, in halves: the parser has nodes and maps of its own.
const yamlFactor = 3

// YAML is the size of a YAML document that is decoded into the type. Where it is JSON it is read as such. limit is how
// many bytes its aliases may make of it.
func (s *Shape) YAML(data []byte, limit int64) Size {
	size := s.flow(data)
	if more := aliases(data); more > 1 {
		n := min(float64(size.Values)*more, float64(limit))
		size = Size{Elements: int64(n) * s.worst, Values: int64(n), Bytes: min(int64(float64(size.Bytes)*more), limit)}
	}
	// The parser makes a tree of everything, whatever it is decoded into.
	size.Elements += size.Values * treeElement
	size.Elements, size.Values, size.Bytes = size.Elements*yamlFactor/2, size.Values*yamlFactor/2, size.Bytes*yamlFactor/2
	return size
}

// flow is the size without aliases.
func (s *Shape) flow(data []byte) Size {
	if text := bytes.TrimLeft(data, " \r\n\t"); len(text) > 0 && text[0] == '{' {
		w := walk{data: data}
		if w.value(s, 0) && !w.rest() {
			return Size{Elements: w.elements, Values: w.values, Bytes: int64(len(data))}
		}
	}
	// Every value but the first follows one of these. Colons and dashes count where they separate.
	n := int64(1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'{'}) + bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'?'}))
	for i, c := range data {
		if (c == ':' || c == '-') && (i+1 == len(data) || data[i+1] <= ' ' || data[i+1] == '"' || data[i+1] == '\'') {
			n++
		}
	}
	return Size{Elements: n * s.worst, Values: n, Bytes: int64(len(data))}
}

// aliases is how many times larger a document may be with its aliases written out. With anchors whose contents have
// a, b, c ... aliases of those before them it is (1+a)(1+b)(1+c) ... at most, which is most where these are equal.
func aliases(data []byte) float64 {
	anchors, names := marks(data, '&'), marks(data, '*')
	if anchors == 0 || names == 0 {
		return 1
	}
	most := 1.0
	for range min(anchors, names) {
		if most *= 1 + float64(names)/float64(min(anchors, names)); most > 1<<40 {
			break
		}
	}
	return most
}

// marks counts a mark where it may begin a word and a name follows.
func marks(data []byte, mark byte) (n int) {
	for i := 0; ; i++ {
		next := bytes.IndexByte(data[i:], mark)
		if next < 0 {
			return n
		}
		i += next
		begins := i == 0 || bytes.IndexByte([]byte(" \t\r\n[]{},:-?"), data[i-1]) >= 0
		if begins && i+1 < len(data) && named(data[i+1]) {
			n++
		}
	}
}

// named reports whether a name of an anchor may begin so.
func named(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
