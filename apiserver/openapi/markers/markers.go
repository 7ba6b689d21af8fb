package markers

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

//go:embed markers.txt
var text string

// Set has the markers of all types, by package path and name as reflection returns them: "k8s.io/api/core/v1.Pod".
type Set struct {
	types map[string]Type
	enums map[string][]string
}

// Type has the markers of a struct and its fields.
type Type struct {
	// MapType is x-kubernetes-map-type: "atomic", "granular" or empty.
	MapType string
	// Union is nil if the struct is not a union.
	Union *Union
	// Fields are the fields by JSON name. Fields without markers are absent.
	Fields map[string]Field
}

// Union is a union: only one of its members may be set.
type Union struct {
	// Discriminator is the JSON name of the field that names the member in use. It is empty if there is none.
	Discriminator string
	// Members maps the JSON name of each member to the discriminator's value for it.
	Members map[string]string
}

// Field has the markers of a field.
type Field struct {
	// ListType is "atomic", "set", "map" or empty.
	ListType string
	// ListMapKeys are the JSON names of the keys of a list of type map, in order.
	ListMapKeys []string
	// MapType is "atomic", "granular" or empty.
	MapType string
	// Default is a JSON value as encoding/json decodes it, or nil.
	Default any
	// Presence is "optional" or "required" if that contradicts the json tag. Otherwise it is empty.
	Presence string
}

// Type returns the markers of the struct pkg.name, or the zero value if it has none.
func (s *Set) Type(pkg, name string) Type { return s.types[pkg+"."+name] }

// Enum returns the sorted values that the string type pkg.name allows, or nil if it isn't an enum.
func (s *Set) Enum(pkg, name string) []string { return s.enums[pkg+"."+name] }

// Load returns the markers. It panics if the file can't be parsed. A test checks that it can.
var Load = sync.OnceValue(func() *Set {
	s, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("markers.txt: %v", err))
	}
	return s
})

// Parse parses markers in the format of the package comment.
func Parse(text string) (*Set, error) {
	p := parser{set: &Set{types: map[string]Type{}, enums: map[string][]string{}}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return p.set, nil
}

type parser struct {
	set      *Set
	pkg, typ string
}

func (p *parser) line(line string) error {
	indented := strings.HasPrefix(line, " ")
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		return nil
	case indented:
		return p.field(words)
	case len(words) == 1:
		return fmt.Errorf("%q without a name", words[0])
	case words[0] == "package":
		p.pkg, p.typ = words[1], ""
		return nil
	case p.pkg == "":
		return fmt.Errorf("%q before a package", words[0])
	case words[0] == "enum":
		_, values, _ := strings.Cut(strings.TrimPrefix(line, "enum "), " ")
		p.set.enums[p.pkg+"."+words[1]] = strings.Split(values, ",")
		return nil
	case words[0] == "type":
		return p.structure(words[1:])
	}
	return fmt.Errorf("unknown word %q", words[0])
}

func (p *parser) structure(words []string) error {
	t := Type{Fields: map[string]Field{}}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "mapType":
			t.MapType = value
		case "union":
			t.Union = &Union{Discriminator: value, Members: map[string]string{}}
		default:
			return fmt.Errorf("unknown marker %q of a type", key)
		}
	}
	p.typ = p.pkg + "." + words[0]
	p.set.types[p.typ] = t
	return nil
}

func (p *parser) field(words []string) error {
	t, ok := p.set.types[p.typ]
	if !ok {
		return fmt.Errorf("field %q outside a type", words[0])
	}
	var f Field
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "optional", "required":
			f.Presence = key
		case "listType":
			f.ListType = value
		case "listMapKey":
			f.ListMapKeys = append(f.ListMapKeys, value)
		case "mapType":
			f.MapType = value
		case "default":
			if err := json.Unmarshal([]byte(value), &f.Default); err != nil {
				return fmt.Errorf("default of %q: %w", words[0], err)
			}
		case "member":
			if t.Union == nil {
				return fmt.Errorf("union member %q outside a union", words[0])
			}
			t.Union.Members[words[0]] = value
		default:
			return fmt.Errorf("unknown marker %q of a field", key)
		}
	}
	t.Fields[words[0]] = f
	return nil
}
