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

// checkWork returns an error for JSON that exceeds MaxWork or maxValues. The decoder reports malformed JSON.
func checkWork(data []byte) error {
	depth, work, counted, values := 0, 0, 0, 0
	for at, c := range jsonscan.Marks(data) {
		work += depth * (at - counted)
		counted = at
		switch c {
		case '{', '[':
			depth++
			values++
		case ',':
			values++
		case '}', ']':
			depth = max(depth-1, 0)
		}
		switch {
		case work > MaxWork:
			return errNested
		case values > maxValues:
			return errValues
		}
	}
	if work+depth*(len(data)-1-counted) > MaxWork {
		return errNested
	}
	return nil
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

// CheckMerge returns an error for a patch that would take too long to merge.
func CheckMerge(content, doc any) error {
	n, longest := countItems(doc)
	if n == 0 {
		return nil
	}
	m, longer := countItems(content)
	if (n+m)*(longest+longer) > maxMerge {
		return apierrors.NewRequestEntityTooLargeError("the lists of the patch and of the object are too long to be merged")
	}
	return nil
}
