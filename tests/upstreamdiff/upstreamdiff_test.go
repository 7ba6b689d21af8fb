package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/list.md")

// TestWorkListOfTwoTrees: the work list of two small trees is that in testdata/list.md.
func TestWorkListOfTwoTrees(t *testing.T) {
	before, after := newReader(36), newReader(37)
	for folder, r := range map[string]*reader{"testdata/old": before, "testdata/new": after} {
		if err := r.read(folder, "example.com/m"); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := write(&b, "v0.36.0", "v0.37.0", before, after); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/list.md"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
	if same := diff(after.facts, after.facts); len(same) != 0 {
		t.Errorf("%d differences of a tree from itself", len(same))
	}
}

// TestWrongArgumentsAreErrors: a missing version, and unknown arguments, are errors.
func TestWrongArgumentsAreErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"-to", "v0.38.0", "more"}, {"-from", "v0.36.0"}} {
		if err := run(args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "usage: ") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestMinorOfModuleVersions: the minor follows from versions of modules, and is 0 for other strings.
func TestMinorOfModuleVersions(t *testing.T) {
	for version, want := range map[string]int{"v0.37.2": 37, "v0.38.0-rc.1": 38, "latest": 0} {
		if got := minor(version); got != want {
			t.Errorf("%s: %d, want %d", version, got, want)
		}
	}
}
