package markers

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write markers.json")

// TestMarkersAreUpToDate: markers.json is what `go generate` would write for the module versions in go.mod.
func TestMarkersAreUpToDate(t *testing.T) {
	want, err := extract()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("markers.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("markers.json is stale, run go generate (-sources +file):\n%s", diff)
	}
}
