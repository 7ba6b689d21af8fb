package kubecascade_test

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade"
)

// goroutines returns the stacks of all goroutines by their numbers.
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

// newGoroutines returns the stacks of goroutines that are not among the earlier ones and do not end within the
// patience.
func newGoroutines(before map[string]string, patience time.Duration) string {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		now := goroutines()
		maps.DeleteFunc(now, func(id, _ string) bool {
			return before[id] != ""
		})
		if len(now) == 0 || time.Now().After(deadline) {
			return strings.Join(slices.Sorted(maps.Values(now)), "\n\n")
		}
	}
}

// TestStoppedServersReleaseMemory: after ten stopped servers the heap has grown by less than half of the memory that a
// running one has.
func TestStoppedServersReleaseMemory(t *testing.T) {
	const many, most = 10, 1.5 // MiB; one server has 3
	one := func() {
		s, err := kubecascade.Start(t.Context(), kubecascade.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	one() // makes what all servers share
	before := heap()
	for range many {
		one()
	}
	if more := heap() - before; more > most {
		t.Errorf("%d stopped servers have %.1f MiB", many, more)
	}
}

// heap returns the size of all reachable objects in MiB.
func heap() float64 {
	for range 2 { // what pools keep, and what had a finalizer, goes with the second collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
