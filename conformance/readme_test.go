package conformance_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/conformance"
	"github.com/kubecascade/kubecascade/conformance/cases"
)

var update = flag.Bool("update", false, "rewrite the list of cases in README.md")

// TestReadmeListsCases: README.md lists all cases.
func TestReadmeListsCases(t *testing.T) {
	const begin, end = "<!-- cases -->\n", "<!-- end of cases -->\n"
	have, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(have), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("README.md has no place for the list between %q and %q", begin, end)
	}
	var list bytes.Buffer
	if err := conformance.ListMarkdown(&list, cases.All()); err != nil {
		t.Fatal(err)
	}
	want := head + begin + list.String() + end + tail
	if want == string(have) {
		return
	}
	if !*update {
		t.Fatal("the list of cases in README.md is stale: go generate ./conformance")
	}
	if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
