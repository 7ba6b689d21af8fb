package weight

import "bytes"

// yamlFactor is how much more than JSON's a value of YAML takes, in halves: the parser has nodes and maps of its own.
const yamlFactor = 3

// YAML is the size of a YAML document that is decoded into the kind. Where it is JSON it is read as such, and exact is
// true; else every value counts for the worst that the kind has. What aliases stand for isn't counted.
func (k *Kind) YAML(data []byte) (size Size, exact bool) {
	size, exact = k.flow(data)
	// The parser makes a tree of everything, whatever it is decoded into.
	size.Elements += size.Values * treeElement
	size.Elements, size.Values, size.Bytes = size.Elements*yamlFactor/2, size.Values*yamlFactor/2, size.Bytes*yamlFactor/2
	return size, exact
}

// flow is YAML without what parsing takes.
func (k *Kind) flow(data []byte) (size Size, exact bool) {
	if text := bytes.TrimLeft(data, " \r\n\t"); len(text) > 0 && text[0] == '{' {
		if size, ok := k.walk(data); ok {
			return size, true
		}
	}
	// Every value but the first follows one of these. Colons and dashes count where they separate.
	n := int64(1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'{'}) +
		bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'?'}))
	for i, c := range data {
		if (c == ':' || c == '-') && (i+1 == len(data) || data[i+1] <= ' ' || data[i+1] == '"' || data[i+1] == '\'') {
			n++
		}
	}
	return Size{Elements: n * k.worst(), Values: n, Bytes: int64(len(data))}, false
}

// Aliased reports whether a YAML document may have aliases, by which values stand more than once in it.
func Aliased(data []byte) bool { return marked(data, '*') && marked(data, '&') }

// marked reports whether there is a mark that may begin a word, and that a name follows.
func marked(data []byte, mark byte) bool {
	for i := 0; ; i++ {
		next := bytes.IndexByte(data[i:], mark)
		if next < 0 {
			return false
		}
		i += next
		begins := i == 0 || bytes.IndexByte([]byte(" \t\r\n[]{},:-?"), data[i-1]) >= 0
		if begins && i+1 < len(data) && named(data[i+1]) {
			return true
		}
	}
}

// named reports whether a name of an anchor may begin so.
func named(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
