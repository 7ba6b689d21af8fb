package codec

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// MaxWork bounds the bytes of a document, each counted once a level that it is nested: what must be
// read again for every level costs that much, and much of what decodes, patches and encodes does
// read again (json.Unmarshaler, json.RawMessage). A megabyte may be 128 levels deep on average.
const MaxWork = 128 << 20

var errNested = errors.New("the document is nested too deep for its size")

// CheckWork measures JSON. What is no JSON is left to the decoder.
func CheckWork(data []byte) error {
	if len(data) < 4096 { // it can't be nested so deep
		return nil
	}
	depth, work, counted := 0, 0, 0
	for at, c := range jsonscan.Marks(data) {
		work += depth * (at - counted)
		counted = at
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(depth-1, 0)
		}
		if work > MaxWork {
			return errNested
		}
	}
	if work+depth*(len(data)-1-counted) > MaxWork {
		return errNested
	}
	return nil
}

// maxMerge bounds a strategic merge, which sorts each list by looking for every item in the others:
// the longest list times all items, which is 8,000 items in one list, or some seconds.
const maxMerge = 64 << 20

// lists counts what lists hold in a tree of JSON values: all of them, and the longest.
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

// CheckMerge rejects a patch that would take too long to be merged.
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

// maxManagers bounds the managedFields that a client sends: each set of fields is compared with every
// other, which takes a tenth of a second for so many. What writes objects has a handful.
const maxManagers = 2000

// CheckManagers rejects an object with more. The fields of the others are sorted, as what reads them expects.
func CheckManagers(obj metav1.Object) error {
	entries := obj.GetManagedFields()
	if n := len(entries); n > maxManagers {
		return apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("metadata.managedFields has %d entries, of which %d are taken at most", n, maxManagers))
	}
	if sorted, changed := apply.Sorted(entries); changed {
		obj.SetManagedFields(sorted)
	}
	return nil
}
