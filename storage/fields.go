package storage

import (
	"strings"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// Select returns the values of the paths in a JSON object, as Decoder does for a collection.
func Select(object []byte, paths []FieldPath) []string {
	if len(paths) == 0 {
		return nil
	}
	fields := make([]string, len(paths))
	var last string // the member that was found last: most paths begin with the same member
	var member []byte
	for i, f := range paths {
		fields[i] = f.Default
		for _, path := range f.Paths {
			head, rest, deeper := strings.Cut(path, ".")
			if head != last {
				from, to := jsonscan.Member(object, head)
				last, member = head, object[from:to]
			}
			if v := lookup(member, rest, deeper); v != "" {
				fields[i] = v
				break
			}
		}
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
