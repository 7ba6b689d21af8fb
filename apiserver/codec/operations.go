package codec

import (
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// maxShifted limits the list items that the insertions and removals of a JSON patch copy. Each operation that may
// insert or remove a list item counts as the length of the longest list, plus half the number of operations. 10,000
// insertions into an empty list copy at most 50 million items.
const maxShifted = 64 << 20

// checkOperations returns an error for a JSON patch that would take too long for the size of the patch and the
// document. The library rejects malformed operations.
func checkOperations(before []byte, ops jsonpatch.Patch) error {
	document, _ := measure(before)
	size, longest := len(before), document.elements // of the document and of all values
	shifts, nested := 0, 0                          // operations that shift items; bytes that move deeper, for each level
	for _, o := range ops {
		if v := o["value"]; v != nil {
			value, _ := measure(*v)
			size, longest = size+len(*v), max(longest, value.elements)
			to, _ := o.Path()
			nested += levels(to) * len(*v)
		}
	}
	for _, o := range ops {
		to, _ := o.Path()
		from, _ := o.From()
		kind := o.Kind()
		if kind == "move" && isIndex(from) {
			shifts++
		}
		if kind != "test" && kind != "replace" && isIndex(to) {
			shifts++
		}
		if kind == "move" || kind == "copy" {
			nested += size * max(0, levels(to)-levels(from))
		}
	}
	shifted := shifts * (longest + len(ops)/2)
	switch {
	case shifted > maxShifted:
		return status.Oversized(
			"the operations of the JSON patch would copy %d items of lists, the allowed maximum is %d",
			shifted, maxShifted,
		)
	case nested > MaxWork:
		return status.Oversized("the operations of the JSON patch nest values too deeply for their size")
	}
	return nil
}

// isIndex reports whether a JSON pointer may refer to a list item. It may also be the name of a field.
func isIndex(at string) bool {
	_, err := strconv.Atoi(at[strings.LastIndexByte(at, '/')+1:])
	return err == nil
}

// levels returns the depth of the value to which a JSON pointer refers.
func levels(at string) int { return strings.Count(at, "/") }
