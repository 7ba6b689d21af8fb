package finalizers

import (
	"fmt"
	"slices"
	"testing"
)

// TestManyFinalizers decides a DELETE of an object with 300,000 finalizers, the first of which is the collector's, so
// that the sets must be compared. It ends at once if the comparison is linear; otherwise it would take minutes.
func TestManyFinalizers(t *testing.T) {
	stored := make([]string, 300_000)
	stored[0] = Foreground
	for i := range stored[1:] {
		stored[i+1] = fmt.Sprintf("example.com/%d", i)
	}
	v := Delete(Object{Finalizers: stored}, Kind{}, Options{PropagationPolicy: propagateForeground}, epoch)
	if !slices.Equal(v.Finalizers, stored) {
		t.Errorf("equal sets: the stored order changed: %d finalizers, the first %q", len(v.Finalizers), v.Finalizers[0])
	}
	v = Delete(Object{Finalizers: stored}, Kind{}, Options{PropagationPolicy: propagateOrphan}, epoch)
	if n := len(v.Finalizers); n != len(stored) || v.Finalizers[n-1] != Orphan ||
		slices.Contains(v.Finalizers, Foreground) {
		t.Errorf("another policy: %d finalizers, the last %q", n, v.Finalizers[n-1])
	}
}
