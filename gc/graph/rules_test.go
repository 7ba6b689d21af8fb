package graph

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rules has the place of each of the specification's scenarios (docs/semantics.md, D.10 to D.12): a file of testdata
// or, for scenarios about requests, a test of another package.
var rules = []struct {
	id string
	// file is relative to this directory. test is a function in it, empty for a scenario file.
	file, test string
}{
	{"D-S01", "testdata/D-S01-kinds-come-and-go", ""},
	{"D-S02", "testdata/D-S02-not-found-on-delete", ""},
	{"D-S03", "testdata/D-S03-not-found-while-waiting", ""},
	{"D-S04", "testdata/D-S04-plain-collection", ""},
	{"D-S05", "testdata/D-S05-invariants", ""},
	{"D-S06", "../race_test.go", "TestSnapshotsBesideChanges"},
	{"D-S07", "testdata/D-S07-absent-owners", ""},
	{"D-S08", "../../loopback/gc_test.go", "TestOwnerReferencePatches"},
	{"D-S09", "testdata/D-S09-orphan-conflict", ""},
	{"D-S10", "testdata/D-S10-cluster-owner", ""},
	{"D-S11", "testdata/D-S11-child-before-owner-in-another-namespace", ""},
	{"D-S12", "testdata/D-S12-owner-in-another-namespace-before-child", ""},
	{"D-S13", "testdata/D-S13-cluster-child-of-namespaced-owner", ""},
	{"D-S14", "testdata/D-S14-other-served-version", ""},
	{"D-S15", "testdata/D-S15-version-not-served", ""},
	{"D-S16", "testdata/D-S16-right-uid-wrong-kind", ""},
	{"D-S17", "testdata/D-S17-conflicts", ""},
	{"D-S18", "testdata/D-S18-bad-and-good-children", ""},
	{"D-S19", "testdata/D-S19-other-coordinates", ""},
	{"D-S19a", "../../loopback/gc_test.go", "TestKindsOfTheCollector"},
	{"D-S19b", "testdata/D-S19b-outage-of-kinds", ""},
	{"D-S19c", "../debug_test.go", "TestUIDsSelectRelatedObjects"},
	{"D-S20", "testdata/D-S20-cross-namespace", ""},
	{"D-S21", "testdata/D-S21-cascading", ""},
	{"D-S22", "testdata/D-S22-owner-that-never-was", ""},
	{"D-S22a", "../../loopback/gc_test.go", "TestConcurrentDeletionsFollowTheirOptions"},
	{"D-S22b", "testdata/D-S22b-orphaning", ""},
	{"D-S22c", "testdata/D-S22c-solid-owner-does-not-block", ""},
	{"D-S23", "testdata/D-S23-non-blocking", ""},
	{"D-S24", "testdata/D-S24-double-deletion", ""},
	{"D-S25", "testdata/D-S25-blocking", ""},
	{"D-S30", "testdata/D-S30-dependents-first", ""},
	{"D-S31", "testdata/D-S31-mixed", ""},
	{"D-S32", "testdata/D-S32-definition-goes", ""},
	{"D-S33", "testdata/D-S33-cluster-scoped-owners", ""},
	{"D-S34", "testdata/D-S34-unreadable-objects", ""},
	{"D-S35", "testdata/D-S35-new-kinds-take-part", ""},
	{"D-S40", "testdata/D-S40-background", ""},
	{"D-S41", "testdata/D-S41-orphan", ""},
	{"D-S42", "testdata/D-S42-default-orphan", ""},
	{"D-S43", "testdata/D-S43-deployment-background", ""},
	{"D-S44", "testdata/D-S44-deployment-orphan", ""},
	{"D-S45", "testdata/D-S45-foreground", ""},
	{"D-S46", "testdata/D-S46-two-owners", ""},
	{"D-S47", "testdata/D-S47-cycle", ""},
	{"D-S48", "testdata/D-S48-cluster-scoped-custom-resources", ""},
	{"D-S49", "testdata/D-S49-custom-resource-orphan", ""},
	{"D-S50", "testdata/D-S50-cronjob", ""},
	{"J-01", "testdata/J-01-deletion-begun-elsewhere", ""},
	{"J-03", "testdata/J-03-policy-changes", ""},
	{"J-08", "testdata/J-08-late-dependent", ""},
	{"J-09", "testdata/J-09-late-dependent", ""},
	{"J-12", "testdata/J-12-cycle-deleted-by-hand", ""},
	{"J-15", "testdata/J-15-changed-coordinates", ""},
	{"J-20", "../../loopback/gc_test.go", "TestLastFinalizerUnderPrecondition"},
	{"J-35", "testdata/J-35-kind-without-watch", ""},
	{"J-40", "testdata/J-40-other-object-of-the-name", ""},
	{"J-45", "testdata/J-45-kind-goes-with-its-objects", ""},
	{"J-50", "../../loopback/gc_test.go", "TestRemovalByUpdate"},
}

// TestEachRuleHasScenarioOrTest fails when a rule has no file or test, or the file doesn't name it at its head, or a
// scenario file is of no rule in the list.
func TestEachRuleHasScenarioOrTest(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range rules {
		listed[r.file] = true
		text, err := os.ReadFile(filepath.FromSlash(r.file))
		if err != nil {
			t.Errorf("%s: %v", r.id, err)
			continue
		}
		head, _, _ := strings.Cut(string(text), "\n\n")
		if r.test != "" {
			head = comment(string(text), r.test)
		}
		if !regexp.MustCompile(`\b` + r.id + `\b`).MatchString(head) {
			t.Errorf("%s: %s doesn't name it at its head: %q", r.id, r.file+" "+r.test, head)
		}
	}
	files, err := filepath.Glob("testdata/*-S*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !listed[filepath.ToSlash(file)] {
			t.Errorf("%s is not in the list", file)
		}
	}
}

// comment returns the comment of a test function, empty if there is no such test.
func comment(text, test string) string {
	before, _, ok := strings.Cut(text, "\nfunc "+test+"(t *testing.T)")
	if !ok {
		return ""
	}
	return before[strings.LastIndex(before, "\n\n"):]
}
