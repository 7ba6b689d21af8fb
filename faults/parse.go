package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	document = bytes.TrimSuffix(bytes.TrimRight(document, " \t\r\n"), []byte("\n---"))
	data, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return Plan{}, fmt.Errorf("the plan: %w", err)
	}
	var first, second goyaml.Node
	if d := goyaml.NewDecoder(bytes.NewReader(document)); d.Decode(&first) == nil && d.Decode(&second) != io.EOF {
		return Plan{}, errors.New("the plan: there is a second document")
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
	return p, p.check(0)
}

// decode decodes JSON strictly. Errors have the path of the field below path.
func decode(data []byte, into any, path string) error {
	at := func(field string) string { return cmp.Or(strings.Trim(path+"."+field, "."), "the plan") }
	strict, err := kjson.UnmarshalStrict(data, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: a value of type %s is not allowed", at(wrong.Field), wrong.Value)
	}
	var unknown kjson.FieldError
	if errors.As(errors.Join(strict...), &unknown) {
		return fmt.Errorf("%s: the field is unknown", at(unknown.FieldPath()))
	}
	return err
}

// check returns the first error of the plan. The other plans in force have that number of rules.
func (p *Plan) check(others int) error {
	if n := len(p.Rules); n == 0 || n+others > MaxRules {
		return fmt.Errorf("rules: %d, and %d in other plans; a plan has 1 or more, all up to %d", n, others, MaxRules)
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
	m, e := &r.Match, &r.Effect
	for i, s := range [][2]string{
		{"group", m.Group}, {"resource", m.Resource}, {"subresource", m.Subresource}, {"namespace", m.Namespace},
		{"name", m.Name}, {"user", m.User}, {"userAgent", m.UserAgent}, {"fieldManager", m.FieldManager},
		{"verbs", strings.Join(m.Verbs, " ")},
	} {
		if len(s[1]) > maxPattern || i < 3 && (strings.Contains(s[1], "/") || s[1] != strings.ToLower(s[1])) {
			return fmt.Errorf("match.%s: %.64q has capitals or /, or over %d bytes", s[0], s[1], maxPattern)
		}
	}
	if p := r.Probability; !(p >= 0 && p <= 1) {
		return fmt.Errorf("probability: %v is not between 0 and 1", p)
	}
	has := e.kinds()
	if len(has) != 1 {
		return fmt.Errorf("effect: has %v, not exactly one of %v", has, kinds)
	}
	for _, n := range []struct {
		path        string
		value, most int64
	}{
		{"skip", int64(r.Skip), maxCount}, {"times", int64(r.Times), maxCount}, {"every", int64(r.Every), maxCount},
		{"effect.delay", int64(e.Delay), int64(maxDuration)},
		{"effect.retryAfter", int64(e.RetryAfter), int64(maxDuration / time.Second)},
		{"effect.events", int64(e.Events), maxCount}, {"effect.revisions", int64(e.Revisions), maxCount},
		{"effect.duration", int64(e.Duration), int64(maxDuration)},
	} {
		param, ofEffect := strings.CutPrefix(n.path, "effect.")
		switch {
		case n.value >= 0 && n.value <= n.most:
		case n.most == int64(maxDuration):
			return fmt.Errorf("%s: must be a positive duration like 1.5s, at most %v", n.path, maxDuration)
		default:
			return fmt.Errorf("%s: %d is negative, or more than %d", n.path, n.value, n.most)
		}
		if n.value > 0 && ofEffect && !slices.Contains(has[0].params, param) {
			return fmt.Errorf("%s: does not belong to the effect %v", n.path, has[0])
		}
	}
	return r.checkFit()
}

// checkFit returns an error if the values of the effect do not fit each other and the verbs.
func (r *Rule) checkFit() error {
	e := &r.Effect
	switch {
	case e.Error != "" && reasons[e.Error] == nil:
		return fmt.Errorf("effect.error: %q is not one of %v", e.Error, slices.Sorted(maps.Keys(reasons)))
	case e.RetryAfter > 0 && e.Error != "TooManyRequests":
		return errors.New("effect.retryAfter: is only for the error TooManyRequests")
	case e.StaleReads && (e.Revisions == 0) == (e.Duration == 0):
		return errors.New("effect.staleReads: needs either revisions or duration")
	}
	for i, v := range r.Match.Verbs {
		switch {
		case !slices.Contains(verbs, v):
			return fmt.Errorf("match.verbs[%d]: %q is not one of %v", i, v, verbs)
		case !slices.Contains(e.fits(), v):
			return fmt.Errorf("effect.%v: %s does not fit the verb %s", e.kinds()[0], e.Name(), v)
		}
	}
	return nil
}
