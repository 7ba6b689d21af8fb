package patch

import (
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// maxShifted limits the items that the insertions and removals of a JSON patch copy. Each operation that may be one
// counts with the possible length of the longest list. 10,000 insertions into an empty list copy at most 50 million
// items.
const maxShifted = 64 << 20

// checkOperations rejects a JSON patch that would take too long for its size and that of the document.
func checkOperations(before []byte, ops jsonpatch.Patch) error {
	c := operationsCost{size: len(before)}
	for _, o := range ops {
		c.size += len(raw(o, "value"))
		c.longest = max(c.longest, longestList(raw(o, "value")))
	}
	c.longest = max(c.longest, longestList(before))
	for _, o := range ops {
		c.add(o)
	}
	switch {
	case c.shifted > maxShifted:
		return status.Oversized(
			"the operations of the JSON patch would copy %d items of lists, the allowed maximum is %d", c.shifted, maxShifted)
	case c.lifted+c.deeper*c.size > codec.MaxWork:
		return status.Oversized("the operations of the JSON patch nest values too deep for their size")
	}
	return nil
}

// operationsCost is the maximum cost of a JSON patch.
type operationsCost struct {
	// size is the number of bytes of the document and of all values.
	size int
	// longest is the possible length of the longest list so far.
	longest int
	// shifted is the number of copied items.
	shifted int
	// lifted is the number of bytes of new values, each counted once for every enclosing level.
	lifted int
	// deeper is the number of levels by which moved values may deepen the document.
	deeper int
}

// add counts an operation. A malformed one is left to the library.
func (c *operationsCost) add(o jsonpatch.Operation) {
	to, from := pointer(o, "path"), pointer(o, "from")
	switch o.Kind() {
	case "add":
		c.lifted += levels(to) * len(raw(o, "value"))
		c.insert(to)
	case "replace":
		c.lifted += levels(to) * len(raw(o, "value"))
	case "remove":
		c.shift(to)
	case "move":
		c.deeper += max(0, levels(to)-levels(from))
		c.shift(from)
		c.insert(to)
	case "copy":
		c.deeper += max(0, levels(to)-levels(from))
		c.insert(to)
	}
}

// insert counts a new item if the target may be in a list.
func (c *operationsCost) insert(to string) {
	c.shift(to)
	if isIndex(to) || strings.HasSuffix(to, "/-") {
		c.longest++
	}
}

// shift counts the copy of a list if one may be changed in its middle.
func (c *operationsCost) shift(at string) {
	if isIndex(at) {
		c.shifted += c.longest
	}
}

// isIndex reports whether a JSON pointer may refer to a list item; names of fields may have the same form.
func isIndex(at string) bool {
	_, err := strconv.Atoi(at[strings.LastIndexByte(at, '/')+1:])
	return err == nil
}

func levels(at string) int { return strings.Count(at, "/") }

// pointer is the operation's member of that name, a JSON pointer; empty if there is none.
func pointer(o jsonpatch.Operation, name string) (at string) {
	if name == "from" {
		at, _ = o.From()
	} else {
		at, _ = o.Path()
	}
	return at
}

// raw is the JSON of the operation's member; nil if there is none.
func raw(o jsonpatch.Operation, name string) []byte {
	if v := o[name]; v != nil {
		return *v
	}
	return nil
}

// longestList is the length of the longest list in a JSON document; an empty list counts as one item.
func longestList(data []byte) (longest int) {
	var open []int // items of the enclosing containers; -1 for objects
	for _, c := range jsonscan.Marks(data) {
		switch c {
		case '[':
			open = append(open, 1)
			longest = max(longest, 1)
		case '{':
			open = append(open, -1)
		case ']', '}':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if n := len(open) - 1; n >= 0 && open[n] > 0 {
				open[n]++
				longest = max(longest, open[n])
			}
		}
	}
	return longest
}
