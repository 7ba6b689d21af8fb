package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// ErrChange: a change does not fit the recordings.
var ErrChange = errors.New("the change does not fit the recorded response")

// Change is the response of a later minor version of Kubernetes to a recorded step. It was reviewed and follows a rule.
type Change struct {
	// Since is the first minor version with the change, such as "1.37". Rule is its rule in docs/semantics-1.37.md.
	Since, Rule string
	// Scenario is the file's path without its ending, and Step the step's number, from 0.
	Scenario string
	Step     int
	Fields   []ChangedField
}

// ChangedField is a field of the response. From is its recorded value.
type ChangedField struct {
	Path     string
	From, To value
}

// LoadChanges reads a list of changes.
func LoadChanges(file []byte) ([]Change, error) {
	var all []Change
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	for _, c := range all {
		if _, err := minor(c.Since); err != nil || c.Rule == "" || len(c.Fields) == 0 {
			return nil, fmt.Errorf("%w: %s, step %d: since %q, rule %q", ErrChange, c.Scenario, c.Step, c.Since, c.Rule)
		}
	}
	return all, nil
}

// Apply returns the scenarios with the responses of the minor version, and the rules of the changes. It returns an
// error if a change has another recorded value than the scenario. It ignores changes of other scenarios.
func Apply(scenarios []Scenario, changes []Change, version int) ([]Scenario, []string, error) {
	out := slices.Clone(scenarios)
	var rules []string
	for i := range out {
		s := &out[i]
		s.steps = slices.Clone(s.steps)
		for _, c := range changes {
			if since, _ := minor(c.Since); c.Scenario != s.Name || since > version {
				continue
			}
			if c.Step >= len(s.steps) {
				return nil, nil, fmt.Errorf("%w: %s has no step %d", ErrChange, s.Name, c.Step)
			}
			st := &s.steps[c.Step]
			for _, f := range c.Fields {
				v, err := replaced(st.Expect.any, strings.Split(strings.TrimPrefix(f.Path, "/"), "/"), f)
				if err != nil {
					return nil, nil, fmt.Errorf("%s, step %d, %s: %w", s.Name, c.Step, f.Path, err)
				}
				st.Expect.any = v
			}
			rules = append(rules, c.Rule)
		}
	}
	slices.Sort(rules)
	return out, slices.Compact(rules), nil
}

// replaced returns a copy of v with another value at the path.
func replaced(v any, keys []string, f ChangedField) (any, error) {
	if len(keys) == 0 {
		if len(compare(f.From.any, v, "")) > 0 {
			return nil, fmt.Errorf("%w: it is %s", ErrChange, show(v))
		}
		return f.To.any, nil
	}
	switch v := v.(type) {
	case object:
		if inner, ok := v.get(keys[0]); ok {
			inner, err := replaced(inner, keys[1:], f)
			return v.with(keys[0], inner), err
		}
	case []any:
		if i, err := strconv.Atoi(keys[0]); err == nil && i >= 0 && i < len(v) {
			inner, err := replaced(v[i], keys[1:], f)
			v = slices.Clone(v)
			v[i] = inner
			return v, err
		}
	}
	return nil, fmt.Errorf("%w: there is no %s", ErrChange, keys[0])
}

// minor returns 37 for "1.37".
func minor(version string) (int, error) {
	major, minor, _ := strings.Cut(version, ".")
	if major != "1" {
		return 0, fmt.Errorf("major version %q", major)
	}
	return strconv.Atoi(minor)
}

// version returns the server's minor version, or 0 if the server does not report one.
func (t *Target) version(ctx context.Context) (int, error) {
	r, err := t.send(ctx, message{method: http.MethodGet, path: "/version"})
	if err != nil {
		return 0, err
	}
	var v struct{ Major, Minor string }
	if json.Unmarshal(r.body, &v) != nil {
		return 0, nil
	}
	n, err := minor(v.Major + "." + strings.TrimRight(v.Minor, "+"))
	if err != nil {
		return 0, nil
	}
	return n, nil
}
