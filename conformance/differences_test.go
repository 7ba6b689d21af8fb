package conformance_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pointer matches a test that a row of differences.md names: a scenario file, or a Go test with the directory of its
// package. kubecascade is the package at the module's root.
var pointer = regexp.MustCompile("`(?:([a-z/]+/testdata/[A-Za-z0-9-]+)|([a-z/]+)\\.(Test[A-Za-z]+))`")

// TestDifferencesNameExistingTests: each row of differences.md has all cells, the tests that it names exist, and each
// row about the collector names a test.
func TestDifferencesNameExistingTests(t *testing.T) {
	have, err := os.ReadFile("differences.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for row := range strings.Lines(string(have)) {
		if !strings.HasPrefix(row, "| ") {
			continue
		}
		rows++
		if cells := strings.Split(strings.TrimSpace(row), " | "); len(cells) != 4 {
			t.Errorf("%d cells instead of 4: %s", len(cells), row)
		}
		named := pointer.FindAllStringSubmatch(row, -1)
		if strings.HasPrefix(row, "| the collector, ") && len(named) == 0 {
			t.Errorf("no test is named: %s", row)
		}
		for _, n := range named {
			if !exists(t, n[1], n[2], n[3]) {
				t.Errorf("%s doesn't exist: %s", n[0], row)
			}
		}
	}
	if rows < 2 {
		t.Error("differences.md has no table")
	}
}

// exists reports whether there is a scenario file or, if no scenario is named, a test in a directory.
func exists(t *testing.T, scenario, folder, test string) bool {
	t.Helper()
	if scenario != "" {
		_, err := os.Stat(path.Join("..", scenario))
		return err == nil
	}
	if folder == "kubecascade" {
		folder = "."
	}
	files, err := filepath.Glob(path.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte("\nfunc "+test+"(t *testing.T)")) {
			return true
		}
	}
	return false
}
