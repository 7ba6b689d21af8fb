package conformance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/conformance"
	"github.com/kubecascade/kubecascade/conformance/cases"
)

func TestCases(t *testing.T) {
	if err := conformance.Check(cases.All()); err != nil {
		t.Error(err)
	}
}

// TestCheck: a table with a mistake is rejected, and the error names it.
func TestCheck(t *testing.T) {
	good := conformance.Case{
		Name: "group/name", Rules: []string{"D-S22a"}, Proves: "It is.", Docs: "https://kubernetes.io/docs/",
		Run: func(*conformance.T) {},
	}
	for mistake, edit := range map[string]func(*conformance.Case){
		"isn't group/words": func(c *conformance.Case) { c.Name = "Group" },
		"two of that name":  func(c *conformance.Case) { c.Name = "group/first" },
		"its rules are":     func(c *conformance.Case) { c.Rules = []string{"rule 7"} },
		"is no sentence":    func(c *conformance.Case) { c.Proves = "" },
		"is no page":        func(c *conformance.Case) { c.Docs = "https://example.com" },
		"it does nothing":   func(c *conformance.Case) { c.Run = nil },
	} {
		first, second := good, good
		first.Name = "group/first"
		edit(&second)
		if err := conformance.Check([]conformance.Case{
			first, second,
		}); err == nil || !strings.Contains(err.Error(), mistake) {
			t.Errorf("the mistake %q is reported as: %v", mistake, err)
		}
	}
	if err := conformance.Check([]conformance.Case{good}); err != nil {
		t.Error(err)
	}
}

func TestSelect(t *testing.T) {
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
