package help

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImports: the package imports nothing but these, or else it would be initialized after the packages that it must
// come before.
func TestImports(t *testing.T) {
	early := []string{"bytes", "os", "path/filepath", "strconv", "strings"}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, i := range file.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err != nil || !slices.Contains(early, path) {
				t.Errorf("%s imports %s", f.Name(), i.Path.Value)
			}
		}
	}
	if read < 2 {
		t.Errorf("%d files were read", read)
	}
}
