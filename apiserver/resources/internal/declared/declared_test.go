package declared

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write generated.txt anew")

const root = "../../../.."

// required is the version of a module in a go.mod.
func required(t *testing.T, file, module string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s does not require %s", file, module)
	}
	return string(m[1])
}

// TestUpToDate: generated.txt has the versions of the modules, and the generated files are unchanged since. If it
// fails, run go generate in this directory.
func TestUpToDate(t *testing.T) {
	var want strings.Builder
	fmt.Fprintf(&want, "k8s.io/api %s\n", required(t, "go.mod", "k8s.io/api"))
	fmt.Fprintf(&want, "k8s.io/apimachinery %s\n", required(t, "go.mod", "k8s.io/apimachinery"))
	fmt.Fprintf(&want, "k8s.io/code-generator %s\n", required(t, "tests/go.mod", "k8s.io/code-generator"))
	files, err := filepath.Glob("*/doc.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no packages: %v", err)
	}
	for _, doc := range files {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(doc), "zz_generated.validations.go"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "%s %x\n", filepath.Dir(doc), sha256.Sum256(text))
	}
	if *update {
		if err := os.WriteFile("generated.txt", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("generated.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("generated.txt is\n%swant\n%s", got, want.String())
	}
}
