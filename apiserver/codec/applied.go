package codec

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// Limits of an apply document. structured-merge-diff inserts the fields of a list or map one by one into a sorted
// slice: 20,000 objects in reverse order take a second or two, 120,000 take minutes. Upstream has no limit.
const (
	// maxApplied is the maximum number of objects in one list of an apply document.
	maxApplied = 10_000
	// maxAppliedValues is the maximum number of elements of any type in one list.
	maxAppliedValues = 20_000
	// maxAppliedMembers is the maximum number of members in one object. Members are compared faster than elements.
	maxAppliedMembers = 65_536
)

// CheckApplied returns an error for an apply document, in JSON, with a list or a map that would take too long to merge,
// or with a quantity that would take too long to parse.
func CheckApplied(data []byte, gvk schema.GroupVersionKind) error {
	objects, values, members := largestIn(data)
	switch {
	case objects > maxApplied:
		return status.Oversized("a list of the apply document has %d objects, the allowed maximum is %d",
			objects, maxApplied)
	case values > maxAppliedValues:
		return status.Oversized("a list of the apply document has %d elements, the allowed maximum is %d",
			values, maxAppliedValues)
	case members > maxAppliedMembers:
		return status.Oversized("a map of the apply document has %d members, the allowed maximum is %d",
			members, maxAppliedMembers)
	}
	if err := checkQuantities(data, gvk); err != nil {
		return status.BadRequest("%v", err)
	}
	return nil
}

// checkQuantities returns an error for an object, in JSON, with a quantity that takes too long to parse.
func checkQuantities(data []byte, gvk schema.GroupVersionKind) error {
	return CheckQuantities(Body{Bytes: data, Media: MediaJSON}, func(b Body) error {
		obj, err := resources.Scheme().New(gvk)
		if err != nil { // a custom resource
			return nil
		}
		content := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(b.Bytes, &content); err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj)
	})
}

// largestIn returns the largest number of objects in a list of a JSON document, the length of its longest list, and
// the largest number of members of an object.
func largestIn(data []byte) (objects, values, members int) {
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
