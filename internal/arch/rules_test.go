package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the module's directory.
const root = "../.."

var (
	cited    = regexp.MustCompile(`\b(?:0-\d{2}|[A-JL-O]-S?\d{2,3})\b`)
	declared = regexp.MustCompile(`(?m)^- \*\*(0-\d{2}|[A-JL-O]-S?\d{2,3})\b`)
)

// TestCitedRulesExist: every rule ID in the code is in docs/semantics.md or docs/semantics-admission.md.
func TestCitedRulesExist(t *testing.T) {
	rules := map[string]bool{}
	for _, name := range []string{"semantics.md", "semantics-admission.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(text, -1) {
			rules[string(m[1])] = true
		}
	}
	if len(rules) < 650 {
		t.Fatalf("docs/semantics.md and docs/semantics-admission.md have only %d rules", len(rules))
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, id := range cited.FindAllString(string(src), -1) {
			if n++; !rules[id] {
				t.Errorf("%s cites %s, which docs/semantics*.md don't have", path, id)
			}
		}
		return err
	})
	if err != nil || n < 100 {
		t.Fatalf("%d rules cited, %v", n, err)
	}
}
