package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
)

// TestDifference: an error message shows apimachinery's difference, unless it is long.
func TestDifference(t *testing.T) {
	list := func(n int, name string) map[string]any {
		return map[string]any{"a": objecttest.ListOf(n, func(i int) string {
			return fmt.Sprint(i, name)
		}), "z": json.RawMessage(`[1]`)}
	}
	if d := Difference(list(3, "x"), list(3, "y")); !strings.Contains(d, `+  "0y"`) || !strings.Contains(d, `-  "2x"`) {
		t.Errorf("a short difference: %s", d)
	}
	if d := Difference(list(4000, "x"), list(4000, "y")); !strings.Contains(d, "too long") || len(d) > 100 {
		t.Errorf("a long difference: %d bytes", len(d))
	}
}
