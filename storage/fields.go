package storage

import (
	"strings"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// want is a path that is searched for: the rest of it at the present depth, and the index of its value in
// parser.values.
type want struct {
	rest string
	slot int
}

// wants lists all paths, and allocates their values.
func (p *parser) wants(to []want, paths []FieldPath) []want {
	for _, f := range paths {
		for _, path := range f.Paths {
			to = append(to, want{rest: path, slot: len(to)})
		}
	}
	if len(to) > 0 {
		p.values = make([]string, len(to))
	}
	return to
}

// selected returns the values of the paths, after the whole object was parsed.
func (p *parser) selected(paths []FieldPath) []string {
	if len(paths) == 0 {
		return nil
	}
	fields := make([]string, len(paths))
	slot := 0
	for i, f := range paths {
		fields[i] = f.Default
		for j := len(f.Paths) - 1; j >= 0; j-- {
			if v := p.values[slot+j]; v != "" {
				fields[i] = v
			}
		}
		slot += len(f.Paths)
	}
	return fields
}

// Select returns the values of the paths in a JSON object, as Decoder does for a collection; nil if it is no JSON
// object.
func Select(object []byte, paths []FieldPath) []string {
	p := parser{Scanner: jsonscan.New(object), meta: &Meta{}}
	if p.object(paths); p.Err() != nil {
		return nil
	}
	return p.selected(paths)
}

// wanted reports whether a path begins with the name.
func wanted(name jsonscan.String, wants []want) bool {
	for _, w := range wants {
		if head, _, _ := strings.Cut(w.rest, "."); name.Is(head) {
			return true
		}
	}
	return false
}

// field parses the member's value and keeps the values of wanted paths.
func (p *parser) field(name jsonscan.String, wants []want) {
	var buf [8]want
	inner, leaf := buf[:0], false
	for _, w := range wants {
		head, rest, deeper := strings.Cut(w.rest, ".")
		if !name.Is(head) {
			continue
		}
		p.forget(w.slot) // a duplicate member replaces the earlier one
		if deeper {
			inner = append(inner, want{rest, w.slot})
		} else {
			leaf = true
		}
	}
	switch c := p.Peek(); {
	case c == '{' && len(inner) > 0:
		if !p.Open('{') {
			return
		}
		for first := true; ; first = false {
			name, _, ok := p.Key(first)
			if !ok {
				return
			}
			p.field(name, inner)
		}
	case leaf && c != '{' && c != '[':
		v := p.scalar()
		for _, w := range wants {
			if name.Is(w.rest) {
				p.values[w.slot] = v
			}
		}
	default:
		p.Skip()
	}
}

func (p *parser) forget(slot int) { p.values[slot] = "" }

// scalar reads a string, number or boolean as it is printed; null is "".
func (p *parser) scalar() string {
	if p.Peek() == '"' {
		return p.keep(p.ReadString())
	}
	from := p.Offset()
	p.Skip()
	if v := p.From(from); p.Err() == nil && string(v) != "null" {
		return p.keep(jsonscan.String{Raw: v, Plain: true})
	}
	return ""
}
