package weight

import "bytes"

// yamlFactor is how much more memory a value of YAML takes than one of JSON, in halves: the parser has its own nodes
// and maps.
const yamlFactor = 3

// YAML is the size of a YAML document that is decoded into the kind. A document that is JSON is scanned as JSON, and
// exact is true; else every value counts with the largest memory of the kind. The targets of aliases are not counted.
func (k *Kind) YAML(data []byte) (size Size, exact bool) {
	size, exact = k.flow(data)
	// The parser makes a tree of every document, whatever it is decoded into.
	size.Elements += size.Values * treeElement
	size.Elements, size.Values, size.Bytes = size.Elements*yamlFactor/2, size.Values*yamlFactor/2, size.Bytes*yamlFactor/2
	return size, exact
}

// flow is YAML without the cost of parsing.
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

// Aliased reports whether a YAML document may have aliases, which repeat a value.
func Aliased(data []byte) bool { return marked(data, '*') && marked(data, '&') }

// marked reports whether the document has the mark where a word may begin, followed by a name.
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

// named reports whether the name of an anchor may begin with the character.
func named(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
