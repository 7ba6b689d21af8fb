package check

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/diff"
)

// mostDiffered is the maximum size in bytes of two values in JSON whose difference is computed. The number of steps is
// quadratic in the number of lines.
const mostDiffered = 32 << 10

// Difference returns the difference of two values for an error message, in apimachinery's form.
func Difference(was, now any) string {
	pair, err := json.Marshal([]any{was, now})
	if err != nil || len(pair) > mostDiffered {
		return "(the difference is too long to show)"
	}
	return diff.Diff(was, now)
}
