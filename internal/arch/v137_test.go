package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedChange    = regexp.MustCompile(`\bV-\d{3}\b`)
	declaredChange = regexp.MustCompile(`(?ms)^- \*\*(V-\d{3})\*\* (.*?)(?:\n- |\n#|\z|\n\n)`)
	// tested names a scenario file or directory, or a Go test with the directory of its package.
	tested = regexp.MustCompile("Tested:\\s+`(?:([a-z/]+/testdata/[a-z/]+)|([a-z/]+)\\.(Test[A-Za-z0-9]+))`")
)

// TestRulesOf137HaveTests: docs/semantics-1.37.md has 128 rules, each with a test that exists and whose package cites
// the rule, or the reason why it has none. The code cites no others.
func TestRulesOf137HaveTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "semantics-1.37.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for rest := text; ; {
		at := declaredChange.FindSubmatchIndex(rest)
		if at == nil {
			break
		}
		id, body := string(rest[at[2]:at[3]]), string(rest[at[4]:at[5]])
		rules[id] = true
		named := tested.FindStringSubmatch(body)
		switch {
		case named == nil && !strings.Contains(strings.Join(strings.Fields(body), " "), "No test: "):
			t.Errorf("%s names no test, and no reason", id)
		case named != nil && !exists(t, named[1], named[2], named[3]):
			t.Errorf("%s names %s, which does not exist", id, named[0])
		case named != nil && !cites(t, named[1]+named[2], id):
			t.Errorf("%s names %s, where nothing cites the rule", id, named[0])
		}
		rest = rest[at[5]:]
	}
	for n := 1; n <= 128; n++ {
		if id := fmt.Sprintf("V-%03d", n); !rules[id] {
			t.Errorf("%s is missing", id)
		}
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, id := range citedChange.FindAllString(string(src), -1) {
			if !rules[id] && !strings.HasSuffix(path, "v137_test.go") {
				t.Errorf("%s cites %s, which docs/semantics-1.37.md does not have", path, id)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// exists reports whether there are scenarios, or else a test in a directory.
func exists(t *testing.T, scenarios, folder, test string) bool {
	t.Helper()
	if scenarios != "" {
		_, err := os.Stat(filepath.Join(root, scenarios))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(src, []byte("\nfunc "+test+"(t *testing.T)")) {
			return true
		}
	}
	return false
}

// cites reports whether a test, or a scenario, in a file or directory cites a rule. Packages below it are others.
func cites(t *testing.T, place, id string) bool {
	t.Helper()
	start, found := filepath.Join(root, place), false
	err := filepath.WalkDir(start, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case found:
			return filepath.SkipAll
		case d.IsDir():
			if within := strings.TrimPrefix(path, start); within != "" && !strings.Contains(path, "testdata") {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "testdata"):
			return nil
		}
		src, err := os.ReadFile(path)
		found = bytes.Contains(src, []byte(id))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
