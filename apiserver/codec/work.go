package codec

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// MaxWork limits the sum of a document's bytes, each multiplied by its level of nesting. Much of the code that decodes,
// patches and encodes reads a nested value again at each level (json.Unmarshaler, json.RawMessage). A document of 1 MiB
// may have 128 levels on average.
const MaxWork = 128 << 20

var errNested = errors.New("the document is nested too deep for its size")

// maxValues limits the values in a document. Objects and arrays count twice. An empty object takes up to a kilobyte
// when it is decoded to a Go type, and so does the error for an empty string.
const maxValues = 250_000

// errValues is the error for a document with more values.
var errValues = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the document has more than %d values", maxValues))

// extent is the size of a JSON document: the work to decode it (MaxWork), its values (maxValues), the elements of its
// longest list, and the members of its largest object.
type extent struct{ work, values, elements, members int }

// maxDepth bounds the memory of measure. The brackets of a deeper document alone exceed MaxWork.
const maxDepth = 1 << 16

// measure returns the extent of JSON, and an error if it exceeds MaxWork or maxValues. Stored objects may exceed them
// by their managedFields. The decoder reports malformed JSON.
func measure(data []byte) (e extent, err error) {
	type container struct {
		list            bool
		commas, members int
	}
	open, counted := []container{{}}, 0
	for at, c := range jsonscan.Marks(data) {
		e.work += (len(open) - 1) * (at - counted)
		counted = at
		in := &open[len(open)-1]
		switch c {
		case '{', '[':
			e.values++
			if open = append(open, container{list: c == '['}); len(open) > maxDepth {
				return e, errNested
			}
		case ',':
			e.values++
			if in.commas++; in.list {
				e.elements = max(e.elements, in.commas+1)
			}
		case ':':
			in.members++
			e.members = max(e.members, in.members)
		default:
			open = open[:max(len(open)-1, 1)]
		}
	}
	switch e.work += (len(open) - 1) * (len(data) - 1 - counted); {
	case e.work > MaxWork:
		return e, errNested
	case e.values > maxValues:
		return e, errValues
	}
	return e, nil
}

// maxMerge limits a strategic merge. To sort a list, it searches the other lists for each item. The cost is the length
// of the longest list times the number of all items. At the limit, a list has 8,000 items, and the merge takes some
// seconds.
const maxMerge = 64 << 20

// countItems counts the list items in a tree of JSON values: those of all lists, and those of the longest list.
func countItems(v any) (items, longest int) {
	within := func(x any) {
		n, l := countItems(x)
		items, longest = items+n, max(longest, l)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			within(x)
		}
	case []any:
		items, longest = len(v), len(v)
		for _, x := range v {
			within(x)
		}
	}
	return items, longest
}

// checkMerge returns an error for a patch that would take too long to merge.
func checkMerge(content, doc any) error {
	n, longest := countItems(doc)
	m, longer := countItems(content)
	if n > 0 && (n+m)*(longest+longer) > maxMerge {
		return apierrors.NewRequestEntityTooLargeError("the lists of the patch and of the object are too long to be merged")
	}
	return nil
}
