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
		if lines > largestPackage {
			t.Errorf("%s has %d lines, more than %d: split it", name, lines, largestPackage)
		}
	}
}

// TestRootOnlyAssembles: the root of apiserver only assembles.
func TestRootOnlyAssembles(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, "apiserver"))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range entries {
		if !e.IsDir() {
			files++
		}
	}
	if files > 12 {
		t.Errorf("apiserver has %d files, more than 12: move what does not assemble to a package below", files)
	}
}
