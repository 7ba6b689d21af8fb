package arch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largestPackage is the limit of a package's lines, without tests. Kinds' packages hold whatever their group has.
const largestPackage = 4000

// larger are packages that are still to be split, with the limits that hold until then.
var larger = map[string]int{"apiserver": 5000}

// TestPackageSize: a package can be read as a whole.
func TestPackageSize(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if below(name, "apiserver/resources") {
			continue
		}
		lines := 0
		for _, f := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(src, []byte("\n"))
		}
		limit := max(largestPackage, larger[name])
		if lines > limit {
			t.Errorf("%s has %d lines, more than %d: split it", name, lines, limit)
		}
	}
}
