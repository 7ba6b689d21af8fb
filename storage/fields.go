package storage

import (
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
	return c.members.fields(paths)
}

func (m members) fields(paths []FieldPath) (fields []string) {
	fields = slices.Grow(fields, len(paths))
	for _, f := range paths {
		value := f.Default
		for _, path := range f.Paths {
			head, rest, deeper := strings.Cut(path, ".")
			if v := lookup(m.get(head), rest, deeper); v != "" {
				value = v
				break
			}
		}
		fields = append(fields, value)
	}
	return fields
}

// lookup returns the value at the path as it is printed, if it is a string, a number or a boolean; otherwise "".
func lookup(object []byte, path string, deeper bool) string {
	for deeper {
		var name string
		name, path, deeper = strings.Cut(path, ".")
		from, to := jsonscan.Member(object, name)
		object = object[from:to]
	}
	switch {
	case len(object) == 0 || object[0] == '{' || object[0] == '[' || string(object) == "null":
		return ""
	case object[0] == '"':
		s := jsonscan.New(object)
		return s.ReadString().Value()
	}
	return string(object)
}
