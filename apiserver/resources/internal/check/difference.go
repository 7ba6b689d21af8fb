package check

import (
	"bytes"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/util/diff"
)

// mostLines is the maximum number of lines in which two values may differ for their difference to be computed. That
// takes at least the square of these lines in steps: hours for the two lists of a request.
const mostLines = 4000

// Difference is the difference of two values in an error message: apimachinery's.
func Difference(was, now any) string {
	if changedLines(was, now) > mostLines {
		return "(the difference is too long to show)"
	}
	return diff.Diff(was, now)
}

// changedLines counts the lines between the common prefix and the common suffix of both values.
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

// prettyLines returns the lines to compare; a value that can't be encoded has none.
func prettyLines(v any) [][]byte {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil
	}
	return bytes.Split(text, []byte("\n"))
}
