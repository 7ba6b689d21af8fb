package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type response struct {
	status      int
	contentType string
	warnings    []string
	body        []byte
	// events are the events of a watch; nil for other requests.
	events []any
}

// answer returns the parts of a response that are compared, in the form of a recording.
func (n *names) answer(s *step, r response) object {
	ignore := s.ignored()
	out := object{
		{"status", json.Number(fmt.Sprint(r.status))},
		{"contentType", strings.ReplaceAll(r.contentType, " ", "")},
	}
	if r.events != nil {
		return append(out, field{"events", n.events(s, r.events)})
	}
	if len(r.warnings) > 0 && s.Do != watch {
		warnings := []any{}
		for _, w := range r.warnings {
			warnings = append(warnings, n.text(w))
		}
		out = append(out, field{"warnings", warnings})
	}
	if s.Compare == "" || s.Compare == "body" || s.Do == watch {
		out = append(out, field{"body", n.body(r, ignore)})
	}
	return out
}

// body returns a body as a value if it is JSON, or else as a string.
func (n *names) body(r response, ignore []string) any {
	if strings.Contains(r.contentType, "json") {
		if v, err := decode(r.body); err == nil {
			return n.normalize(v, ignore, "")
		}
	}
	return n.text(strings.ToValidUTF8(string(r.body), "\uFFFD"))
}

func (n *names) events(s *step, events []any) []any {
	if s.Order == "any" {
		events = slices.Clone(events)
		slices.SortStableFunc(events, func(a, b any) int {
			if byName := compareFields(a, b, "object/metadata/name"); byName != 0 {
				return byName
			}
			return compareFields(a, b, "type")
		})
	}
	out := []any{}
	for _, e := range events {
		out = append(out, n.normalize(e, s.ignored(), ""))
	}
	return out
}

// saveFrom saves the values of a body that the step names. If a value is missing, the name keeps its older value.
func (n *names) saveFrom(s *step, body []byte) {
	fields, _ := s.Save.any.(object)
	if len(fields) == 0 {
		return
	}
	document, err := decode(body)
	if err != nil {
		return // the comparison reports it
	}
	for _, f := range fields {
		path, _ := f.value.(string)
		if v := find(document, path); v != nil {
			n.save(f.key, fmt.Sprint(v))
		}
	}
}

// holds reports whether a response meets the condition.
func (n *names) holds(c condition, r response) bool {
	if c.Status != 0 && c.Status != r.status {
		return false
	}
	document, err := decode(r.body)
	if err != nil {
		document = nil
	}
	for path, want := range c.Equals {
		if s, ok := want.any.(string); ok {
			want.any = n.fill(s)
		}
		if len(compare(want.any, find(document, path), "")) > 0 {
			return false
		}
	}
	if c.Count == nil {
		return true
	}
	items, _ := find(document, "items").([]any)
	return len(items) == *c.Count
}
