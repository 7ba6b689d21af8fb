package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	goyaml "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Parse returns the plan of a document in YAML or JSON.
func Parse(document []byte) (Plan, error) {
	data, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return Plan{}, fmt.Errorf("the plan: %w", err)
	}
	var first, second goyaml.Node
	if d := goyaml.NewDecoder(bytes.NewReader(document)); d.Decode(&first) == nil && d.Decode(&second) == nil {
		return Plan{}, errors.New("the plan: there is a second YAML document")
	}
	var raw struct {
		Rules []json.RawMessage `json:"rules"`
	}
	if err := decode(data, &raw, ""); err != nil {
		return Plan{}, err
	}
	p := Plan{Rules: make([]Rule, len(raw.Rules))}
	for i, rule := range raw.Rules {
		path := fmt.Sprintf("rules[%d]", i)
		if len(rule) > maxRule {
			return Plan{}, fmt.Errorf("%s: the rule is longer than %d bytes", path, maxRule)
		}
		if err := decode(rule, &p.Rules[i], path); err != nil {
			return Plan{}, err
		}
		var given map[string]any
		_ = json.Unmarshal(rule, &given) // it was decoded before
		for _, name := range []string{"times", "every", "probability"} {
			if given[name] == 0.0 {
				return Plan{}, fmt.Errorf("%s.%s: 0 is not positive", path, name)
			}
		}
	}
	return p, p.check()
}

// decode decodes JSON strictly. Errors have the path of the field below path.
func decode(data []byte, into any, path string) error {
	at := func(field string) string { return cmp.Or(strings.Trim(path+"."+field, "."), "the plan") }
	strict, err := kjson.UnmarshalStrict(data, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: a value of type %s is not allowed", at(wrong.Field), wrong.Value)
	}
	for _, e := range strict {
		var of kjson.FieldError
		if errors.As(e, &of) {
			return fmt.Errorf("%s: the field is unknown", at(of.FieldPath()))
		}
	}
	return err
}

// check returns the first error of the plan.
func (p *Plan) check() error {
	if n := len(p.Rules); n == 0 || n > MaxRules {
		return fmt.Errorf("rules: a plan has 1 to %d rules, not %d", MaxRules, n)
	}
	for i := range p.Rules {
		if err := p.Rules[i].check(); err != nil {
			return fmt.Errorf("rules[%d].%w", i, err)
		}
	}
	return nil
}

// check returns an error that begins with the path of the wrong field in the rule.
func (r *Rule) check() error {
	for i, v := range r.Match.Verbs {
		if !slices.Contains(verbs, v) {
			return fmt.Errorf("match.verbs[%d]: %q is not one of %s", i, v, strings.Join(verbs, ", "))
		}
	}
	m := &r.Match
	all := []string{m.Group, m.Resource, m.Subresource, m.Namespace, m.Name, m.User, m.UserAgent, m.FieldManager}
	for i, s := range all {
		if len(s) > maxPattern || i < 3 && (strings.Contains(s, "/") || s != strings.ToLower(s)) {
			return fmt.Errorf("match: %.64q has capitals or / in a group or resource, or over %d bytes", s, maxPattern)
		}
	}
	if p := r.Probability; !(p >= 0 && p <= 1) {
		return fmt.Errorf("probability: %v is not between 0 and 1", p)
	}
	e := &r.Effect
	var has, names []string
	for _, k := range kinds {
		if names = append(names, k.name); k.in(e) {
			has = append(has, k.name)
		}
	}
	if len(has) != 1 {
		return fmt.Errorf("effect: has %v, not exactly one of %s", has, strings.Join(names, ", "))
	}
	for _, n := range []struct {
		path, param string
		value, most int64
	}{
		{"skip", "", int64(r.Skip), MaxCount}, {"times", "", int64(r.Times), MaxCount},
		{"every", "", int64(r.Every), MaxCount}, {"effect.delay", "", int64(e.Delay), int64(MaxDuration)},
		{"effect.retryAfter", "retryAfter", int64(e.RetryAfter), int64(MaxDuration / time.Second)},
		{"effect.events", "events", int64(e.Events), MaxCount},
		{"effect.revisions", "revisions", int64(e.Revisions), MaxCount},
		{"effect.duration", "duration", int64(e.Duration), int64(MaxDuration)},
	} {
		switch {
		case n.value >= 0 && n.value <= n.most:
		case n.most == int64(MaxDuration):
			return fmt.Errorf("%s: must be a positive duration like 1.5s, at most %v", n.path, MaxDuration)
		case n.path == "skip":
			return fmt.Errorf("skip: must not be negative, at most %d", n.most)
		default:
			return fmt.Errorf("%s: must be positive, at most %d", n.path, n.most)
		}
		if n.value > 0 && n.param != "" && !slices.Contains(e.kind().params, n.param) {
			return fmt.Errorf("%s: does not belong to the effect %s", n.path, has[0])
		}
	}
	return r.checkFit(has[0])
}

// checkFit returns an error if the values of the effect do not fit each other and the verbs.
func (r *Rule) checkFit(name string) error {
	e := &r.Effect
	switch {
	case e.Error != "" && reasons[e.Error] == nil:
		all := slices.Sorted(maps.Keys(reasons))
		return fmt.Errorf("effect.error: %q is not one of %s", e.Error, strings.Join(all, ", "))
	case e.RetryAfter > 0 && e.Error != "TooManyRequests":
		return errors.New("effect.retryAfter: is only for the error TooManyRequests")
	case e.StaleReads && (e.Revisions == 0) == (e.Duration == 0):
		return errors.New("effect.staleReads: needs either revisions or duration")
	}
	for _, v := range r.Match.Verbs {
		if !slices.Contains(e.fits(), v) {
			return fmt.Errorf("effect.%s: %s does not fit the verb %s", name, e.Name(), v)
		}
	}
	return nil
}
