package kubecascade_test

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// goroutines are the stacks of all goroutines by their numbers.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		head, _, _ := strings.Cut(stack, " [")
		all[head] = stack
	}
	return all
}

// newGoroutines are the stacks of goroutines that are not among the earlier ones and do not end within the patience.
func newGoroutines(before map[string]string, patience time.Duration) string {
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		now := goroutines()
		maps.DeleteFunc(now, func(id, _ string) bool {
			return before[id] != ""
		})
		if len(now) == 0 || time.Now().After(deadline) {
			return strings.Join(slices.Sorted(maps.Values(now)), "\n\n")
		}
	}
}
