package patch

import (
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// structured-merge-diff keeps the fields of a list, or of a map, in a sorted slice that it inserts each into, several
// times for an apply: 20,000 objects in reverse order take a second or two, 120,000 minutes. Upstream has no bound.
const (
	// maxApplied bounds the objects in one list of an apply document.
	maxApplied = 10_000
	// maxAppliedValues bounds the elements of one list in it, whatever they are.
	maxAppliedValues = 20_000
	// maxAppliedMembers bounds the members of one object in it, which are compared more quickly.
	maxAppliedMembers = 65_536
)

// CheckApplied rejects an apply document, in YAML, with a list or a map that is too long to be merged.
func CheckApplied(data []byte) error {
	if len(data) < maxApplied { // can't be
		return nil
	}
	j, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return nil // checkYAML says so
	}
	objects, values, members := mostWithin(j)
	if objects > maxApplied {
		return status.Oversized("a list of the apply document has %d objects, the allowed maximum is %d", objects, maxApplied)
	}
	if values > maxAppliedValues {
		return status.Oversized("a list of the apply document has %d elements, the allowed maximum is %d",
			values, maxAppliedValues)
	}
	if members > maxAppliedMembers {
		return status.Oversized("a map of the apply document has %d members, the allowed maximum is %d",
			members, maxAppliedMembers)
	}
	return nil
}

// mostWithin is how many objects are in the list of a JSON document that has the most, how many elements are in the
// longest list, and how many members in the object that has the most.
func mostWithin(data []byte) (objects, values, members int) {
	type container struct {
		list                     bool
		objects, commas, members int
	}
	open := []container{{}}
	for _, c := range jsonscan.Marks(data) {
		in := &open[len(open)-1]
		switch c {
		case ',':
			if in.commas++; in.list {
				values = max(values, in.commas+1)
			}
		case ':':
			in.members++
			members = max(members, in.members)
		case '{', '[':
			if c == '{' && in.members == 0 {
				in.objects++
				objects = max(objects, in.objects)
			}
			open = append(open, container{list: c == '['})
		case '}', ']':
			open = open[:max(len(open)-1, 1)]
		}
	}
	return objects, values, members
}
