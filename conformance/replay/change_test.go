package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/conformance/recorded"
)

// TestEachChangeFitsRecordedResponse: each change in the list fits a recorded response, and changes only its own
// fields.
func TestEachChangeFitsRecordedResponse(t *testing.T) {
	changes, err := LoadChanges(recorded.Changes(""))
	if err != nil {
		t.Fatal(err)
	}
	all := load(t, "")
	named := map[string]Scenario{}
	for _, s := range all {
		named[s.Name] = s
	}
	later, rules, err := Apply(all, changes, 37)
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) == 0 {
		t.Error("no rule applies")
	}
	want := map[string][]string{}
	for _, c := range changes {
		if named[c.Scenario].Name == "" {
			t.Errorf("there is no scenario %s", c.Scenario)
		}
		for _, f := range c.Fields {
			at := c.Scenario + " " + named[c.Scenario].steps[c.Step].title()
			want[at] = append(want[at], f.Path)
		}
	}
	for i, s := range later {
		for j := range s.steps {
			for _, d := range compare(all[i].steps[j].Expect.any, s.steps[j].Expect.any, "") {
				within := func(path string) bool { return d.Path == path || strings.HasPrefix(d.Path, path+"/") }
				if at := s.Name + " " + s.steps[j].title(); !slices.ContainsFunc(want[at], within) {
					t.Errorf("%s, step %d: %s has changed", s.Name, j, d.Path)
				}
			}
		}
	}
	if same, rules, err := Apply(all, changes, 36); err != nil || len(rules) > 0 ||
		len(compare(all[1].steps[7].Expect.any, same[1].steps[7].Expect.any, "")) > 0 {
		t.Errorf("v1.36 has rules %v, %v", rules, err)
	}
}

// TestChangesThatDoNotFitAreErrors: changes that do not fit are errors.
func TestChangesThatDoNotFitAreErrors(t *testing.T) {
	all := load(t, "scenarios/create-metadata")
	// entry returns a change of a step's fields. rule and since are members of JSON.
	entry := func(since, rule string, step int, fields string) string {
		return fmt.Sprintf(`[{%s%s"scenario":"scenarios/create-metadata","step":%d%s}]`, since, rule, step, fields)
	}
	const since, rule = `"since":"1.37",`, `"rule":"V-045",`
	const code = `,"fields":[{"path":"/status","from":422,"to":400}]`
	for name, file := range map[string]string{
		"another recorded value": entry(since, rule, 7, `,"fields":[{"path":"/status","from":400,"to":422}]`),
		"no such field":          entry(since, rule, 7, `,"fields":[{"path":"/body/odd","from":1,"to":2}]`),
		"no such item":           entry(since, rule, 7, `,"fields":[{"path":"/body/details/causes/9","from":1,"to":2}]`),
		"no such step":           entry(since, rule, 999, code),
		"no rule":                entry(since, "", 7, code),
		"no version":             entry(`"since":"next",`, rule, 7, code),
		"no fields":              entry(since, rule, 7, ""),
	} {
		changes, err := LoadChanges([]byte(file))
		if err == nil {
			_, _, err = Apply(all, changes, 37)
		}
		if !errors.Is(err, ErrChange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := LoadChanges([]byte(`[{"sinse":"1.37"}]`)); err == nil || !strings.Contains(err.Error(), "sinse") {
		t.Errorf("an unknown field: %v", err)
	}
}

// TestChangesApplyFromTheirVersion: changes apply to servers of their version and later ones.
func TestChangesApplyFromTheirVersion(t *testing.T) {
	changes, err := LoadChanges(recorded.Changes(""))
	if err != nil {
		t.Fatal(err)
	}
	for version, equal := range map[string]bool{
		`{"major":"1","minor":"36"}`: true, `{"major":"1","minor":"37+"}`: false, `{"major":"1","minor":"38"}`: false,
		"404 page not found": true,
	} {
		a := &actor{scenario: load(t, "scenarios/create-metadata")[0], version: version, changes: changes}
		rep := a.play(t)
		if (rep.Different == 0) != equal || (len(rep.Rules) == 0) != equal {
			t.Errorf("%s: %d responses differ, rules %v", version, rep.Different, rep.Rules)
		}
	}
}
