package jsonscan

import "bytes"

// The limits of documents that MeansSameInYAML accepts. YAML has limits of its own for names (1,024 bytes) and depth.
const (
	mostYAMLDepth  = 100
	mostYAMLName   = 256
	mostYAMLDigits = 15
	// fewNames is how many names of an object are compared with each other; more are looked up.
	fewNames = 16
)

// MeansSameInYAML reports whether the data is a JSON object that sigs.k8s.io/yaml decodes to the same values, strictly
// or not, and that it converts to the same JSON but for the order of members. It may report false for such data, too:
// it accepts what clients send, which is compact, in ASCII, with integers only. No name occurs twice in an object.
func MeansSameInYAML(data []byte) bool {
	data = bytes.TrimSuffix(data, []byte("\n"))
	s := New(data)
	return len(data) > 0 && data[0] == '{' && sameInYAML(&s) && s.Offset() == len(data) && s.Err() == nil
}

// sameInYAML reads one value. There may be no white space before it.
func sameInYAML(s *Scanner) bool {
	from := s.Offset()
	c := s.Peek()
	if s.Offset() != from || s.Depth() > mostYAMLDepth {
		return false
	}
	switch c {
	case '"':
		return plainInYAML(s.ReadString())
	case '{':
		return s.Open('{') && membersInYAML(s)
	case '[':
		s.Open('[')
		for first := true; ; first = false {
			from := s.Offset()
			if !s.More(first, ']') {
				return s.Err() == nil && s.Offset() == from+1
			}
			if first && s.Offset() != from || !first && s.Offset() != from+1 || !sameInYAML(s) {
				return false
			}
		}
	case 't', 'f', 'n':
		s.Skip()
		return s.Err() == nil
	}
	return integerInYAML(s.Number())
}

// membersInYAML reads the members of an object that is open, and its end.
func membersInYAML(s *Scanner) bool {
	var few [fewNames]string
	var many map[string]struct{}
	for n := 0; ; n++ {
		from := s.Offset()
		name, at, ok := s.Key(n == 0)
		if !ok {
			return s.Err() == nil && s.Offset() == from+1
		}
		compact := at == from+min(n, 1) && s.Offset() == at+len(name.Raw)+len(`"":`)
		if !compact || !name.Plain || len(name.Raw) > mostYAMLName || !plainInYAML(name) || name.Is("<<") {
			return false
		}
		switch text := string(name.Raw); {
		case n < fewNames:
			for _, other := range few[:n] {
				if other == text {
					return false
				}
			}
			few[n] = text
		default:
			if many == nil {
				many = make(map[string]struct{}, 2*fewNames)
				for _, other := range few {
					many[other] = struct{}{}
				}
			}
			if _, ok := many[text]; ok {
				return false
			}
			many[text] = struct{}{}
		}
		if !sameInYAML(s) {
			return false
		}
	}
}

// plainInYAML reports whether a string is of characters and escapes that JSON and YAML share, and that encoding/json
// writes as they are.
func plainInYAML(t String) bool {
	for i := 0; i < len(t.Raw); i++ {
		switch c := t.Raw[i]; {
		case c == '<' || c == '>' || c == '&' || c < ' ' || c > '~':
			return false
		case c == '\\':
			n := escapeInYAML(t.Raw[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// escapeInYAML is the length of the escape at the beginning of b; 0 if it is not one that JSON and YAML share.
func escapeInYAML(b []byte) int {
	for _, e := range []string{`\"`, `\\`, `\n`, `\r`, `\t`, `\u003c`, `\u003e`, `\u0026`} {
		if bytes.HasPrefix(b, []byte(e)) {
			return len(e)
		}
	}
	return 0
}

// integerInYAML reports whether a number is an integer that a float64 has exactly.
func integerInYAML(number []byte) bool {
	digits := bytes.TrimPrefix(number, []byte("-"))
	if len(digits) == 0 || len(digits) > mostYAMLDigits || string(number) == "-0" {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
