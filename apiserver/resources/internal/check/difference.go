package check

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/diff"
)

// mostDiffered is the maximum size of two values in JSON, in bytes, for their difference to be computed: that takes the
// square of their lines in steps.
const mostDiffered = 32 << 10

// Difference is the difference of two values in an error message: apimachinery's.
func Difference(was, now any) string {
	pair, err := json.Marshal([]any{was, now})
	if err != nil || len(pair) > mostDiffered {
		return "(the difference is too long to show)"
	}
	return diff.Diff(was, now)
}
