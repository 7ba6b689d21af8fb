package storage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// members are the members of a JSON object.
type members []member

type member struct {
	name  jsonscan.String
	value []byte
}

// get returns the value of the last member with the name; nil if there is none.
func (m members) get(name string) []byte {
	for _, f := range slices.Backward(m) {
		if f.name.Is(name) {
			return f.value
		}
	}
	return nil
}

// Select returns the values of the paths in a JSON object, as Decoder does for a collection.
func Select(object []byte, paths []FieldPath) []string {
	c, _ := locate(object) // only objects that were decoded have other values than the defaults
	return c.fields(paths)
}

func (m members) fields(paths []FieldPath) (fields []string) {
	fields = slices.Grow(fields, len(paths))
	for _, f := range paths {
		value := ""
		for i := 0; i < len(f.Paths) && value == ""; i++ {
			value = m.text(f.Paths[i])
		}
		fields = append(fields, cmp.Or(value, f.Default))
	}
	return fields
}

// text returns the value at the path as it is printed, if it is a string, a number or a boolean; otherwise "".
func (m members) text(path string) string {
	name, path, _ := strings.Cut(path, ".")
	value := m.get(name)
	for path != "" {
		name, path, _ = strings.Cut(path, ".")
		from, to := jsonscan.Member(value, name)
		value = value[from:to]
	}
	switch {
	case len(value) == 0 || value[0] == '{' || value[0] == '[' || string(value) == "null":
		return ""
	case value[0] == '"':
		s := jsonscan.New(value)
		return s.ReadString().Value()
	}
	return string(value)
}
