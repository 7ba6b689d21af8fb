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

var update = flag.Bool("update", false, "write generated.txt")

const root = "../../../.."

// required returns the version of a module in a go.mod.
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

// sum returns the checksum of the concatenated files.
func sum(t *testing.T, files ...string) []byte {
	t.Helper()
	h := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(text)
	}
	return h.Sum(nil)
}

// TestGeneratedFilesAreUpToDate: generated.txt has the versions of the modules and the checksums of the generated files
// and of their sources. If this test fails, run go generate in this directory.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	var want strings.Builder
	fmt.Fprintf(&want, "k8s.io/api %s\n", required(t, "go.mod", "k8s.io/api"))
	fmt.Fprintf(&want, "k8s.io/apimachinery %s\n", required(t, "go.mod", "k8s.io/apimachinery"))
	fmt.Fprintf(&want, "k8s.io/code-generator %s\n", required(t, "tests/go.mod", "k8s.io/code-generator"))
	fmt.Fprintf(&want, "generate.sh %x\n", sum(t, "generate.sh"))
	for _, folders := range []string{"*", "../../*"} {
		generated, err := filepath.Glob(folders + "/zz_generated.validations.go")
		if err != nil || len(generated) == 0 {
			t.Fatalf("there are no packages: %v", err)
		}
		for _, file := range generated {
			fmt.Fprintf(&want, "%s %x\n", filepath.Dir(file), sum(t, filepath.Join(filepath.Dir(file), "doc.go"), file))
		}
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
