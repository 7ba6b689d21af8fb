package check

import (
	"bytes"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/util/diff"
)

// mostLines is how many lines two values may differ in, for their difference to be shown. Finding it takes as many
// steps as the square of these lines, and more: the two lists of a request would do for hours.
const mostLines = 4000

// Difference is what an error shows of a change: apimachinery's difference of the internal types.
func Difference(was, now any) string {
	was, now = Internal(was), Internal(now)
	if changedLines(was, now) > mostLines {
		return "(the difference is too long to show)"
	}
	return diff.Diff(was, now)
}

// changedLines counts the lines between those that both values begin with and those that both end with.
func changedLines(was, now any) int {
	a, b := prettyLines(was), prettyLines(now)
	same := 0
	for same < min(len(a), len(b)) && bytes.Equal(a[same], b[same]) {
		same++
	}
	a, b = a[same:], b[same:]
	slices.Reverse(a)
	slices.Reverse(b)
	same = 0
	for same < min(len(a), len(b)) && bytes.Equal(a[same], b[same]) {
		same++
	}
	return len(a) + len(b) - 2*same
}

// prettyLines returns the lines that are compared; what can't be written has none.
func prettyLines(v any) [][]byte {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil
	}
	return bytes.Split(text, []byte("\n"))
}
