package conformance_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/conformance"
	"github.com/kubecascade/kubecascade/conformance/cases"
)

// TestTableOfCasesIsWellFormed: names are unique, and each case has a statement, its page and its rules.
func TestTableOfCasesIsWellFormed(t *testing.T) {
	caseName := regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)
	ruleID := regexp.MustCompile(`^[A-JL-O0]-(S?\d+[a-z]?)$`)
	seen := map[string]bool{}
	for _, c := range cases.All() {
		if !caseName.MatchString(c.Name) || seen[c.Name] {
			t.Errorf("%q isn't group/words-with-dashes, or there are two of that name", c.Name)
		}
		seen[c.Name] = true
		if len(c.Rules) == 0 || slices.ContainsFunc(c.Rules, func(r string) bool { return !ruleID.MatchString(r) }) {
			t.Errorf("%s: its rules are %q", c.Name, c.Rules)
		}
		if !strings.HasSuffix(c.Proves, ".") || !strings.HasPrefix(c.Docs, "https://kubernetes.io/docs/") {
			t.Errorf("%s: %q is no sentence, or %q no page of the documentation", c.Name, c.Proves, c.Docs)
		}
		if c.Run == nil {
			t.Errorf("%s: it does nothing", c.Name)
		}
	}
}

func TestSelectTakesCasesThatMatchRunAndNotSkip(t *testing.T) {
	all := []conformance.Case{{Name: "a/one"}, {Name: "a/two"}, {Name: "b/one"}}
	for _, test := range []struct {
		run, skip       string
		chosen, skipped []string
	}{
		{"", "", []string{"a/one", "a/two", "b/one"}, nil},
		{"^a/", "", []string{"a/one", "a/two"}, nil},
		{"", "one$", []string{"a/two"}, []string{"a/one", "b/one"}},
		{"^a/", "one$", []string{"a/two"}, []string{"a/one"}},
	} {
		var run, skip *regexp.Regexp
		if test.run != "" {
			run = regexp.MustCompile(test.run)
		}
		if test.skip != "" {
			skip = regexp.MustCompile(test.skip)
		}
		chosen, skipped := conformance.Select(all, run, skip)
		if diff := cmp.Diff([][]string{test.chosen, test.skipped}, [][]string{names(chosen), names(skipped)}); diff != "" {
			t.Errorf("--run %q --skip %q: %s", test.run, test.skip, diff)
		}
	}
}

func names(all []conformance.Case) []string {
	var n []string
	for _, c := range all {
		n = append(n, c.Name)
	}
	return n
}
