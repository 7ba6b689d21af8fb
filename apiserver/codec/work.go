package codec

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// MaxWork limits the sum of a document's bytes, each counted once for each level at which it is nested. Much of what
// decodes, patches and encodes reads a nested value again for each level (json.Unmarshaler, json.RawMessage). A
// document of 1 MiB may have 128 levels on average.
const MaxWork = 128 << 20

var errNested = errors.New("the document is nested too deep for its size")

// maxValues limits the values in a document, of which objects and arrays count twice: an empty object takes up to a
// kilobyte when it is decoded to a Go type, and so does the error for an empty string.
const maxValues = 250_000

// errValues is what clients get.
var errValues = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the document has more than %d values", maxValues))

// checkWork checks JSON. Malformed JSON is left to the decoder.
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

// maxMerge limits a strategic merge, which sorts each list by searching the others for each item. The cost is the
// length of the longest list times the number of all items: 8,000 items in one list, which takes some seconds.
const maxMerge = 64 << 20

// lists counts the list items in a tree of JSON values: all of them, and those of the longest list.
func lists(v any) (items, longest int) {
	within := func(x any) {
		n, l := lists(x)
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

// CheckMerge rejects a patch that would take too long to merge.
func CheckMerge(content, doc any) error {
	n, longest := lists(doc)
	if n == 0 {
		return nil
	}
	m, longer := lists(content)
	if (n+m)*(longest+longer) > maxMerge {
		return apierrors.NewRequestEntityTooLargeError("the lists of the patch and of the object are too long to be merged")
	}
	return nil
}
