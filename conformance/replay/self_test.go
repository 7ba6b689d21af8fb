package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRecordingEqualsItself: the recorded responses are equal to themselves.
func TestRecordingEqualsItself(t *testing.T) {
	steps := 0
	for _, s := range load(t, "") {
		rep := (&actor{scenario: s}).play(t)
		for _, f := range rep.Results[0].Findings {
			t.Errorf("%s, step %d: %+v", s.Name, f.Step, f.Differences)
		}
		steps += rep.Equal
	}
	if steps != 718 {
		t.Errorf("%d steps were compared, want 718", steps)
	}
}

// enough is the number of scenarios in which each change is tried.
const enough = 8

// TestChangeOfEachComparedPartIsFound: a change of each compared part of a response is found, and no other difference.
func TestChangeOfEachComparedPartIsFound(t *testing.T) {
	all := load(t, "")
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			tried := 0
			for _, s := range all {
				i := place(s, change)
				if i < 0 || tried == enough {
					continue
				}
				tried++
				a := &actor{scenario: s, change: func(step int, recorded object) object {
					if step == i {
						recorded = change(s.steps[:i+1], recorded)
					}
					return recorded
				}}
				a.scenario.steps = s.steps[:i+1]
				rep := a.play(t)
				if found := rep.Results[0].Findings; len(found) != 1 || found[0].Step != i || rep.Different != 1 {
					t.Errorf("%s, step %d: found %+v", s.Name, i, found)
				}
			}
			if tried == 0 {
				t.Error("nothing was changed")
			}
		})
	}
}

// A change returns a changed copy of the recorded answer of the last step, nil if there is nothing to change.
type change func(steps []step, recorded object) object

// place returns the index of a step to which the change applies, or -1.
func place(s Scenario, c change) int {
	var all []int
	for i := range s.steps {
		recorded, ok := s.steps[i].Expect.any.(object)
		if ok && c(s.steps[:i+1], recorded) != nil {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[len(all)/2]
}

var changes = map[string]change{
	"status": func(_ []step, o object) object {
		if n, _ := find(o, "status").(json.Number).Int64(); n == 200 {
			return o.with("status", json.Number("202"))
		}
		return o.with("status", json.Number("418"))
	},
	"content type": func(_ []step, o object) object { return o.with("contentType", "application/other") },
	"charset": func(_ []step, o object) object {
		return o.with("contentType", find(o, "contentType").(string)+";charset=other")
	},
	"warning": func(_ []step, o object) object {
		w, _ := find(o, "warnings").([]any)
		if len(w) == 0 {
			return nil
		}
		return o.with("warnings", append(w[:len(w)-1:len(w)-1], `299 - "other"`))
	},
	"new warning": func(s []step, o object) object {
		w, _ := find(o, "warnings").([]any)
		if s[len(s)-1].Do == watch {
			return nil
		}
		return o.with("warnings", append(slices.Clip(w), `299 - "other"`))
	},
	"missing warning": func(_ []step, o object) object {
		if find(o, "warnings") == nil {
			return nil
		}
		return o.with("warnings", []any{})
	},
	"message": func(_ []step, o object) object {
		body, _ := find(o, "body").(object)
		m, ok := find(body, "message").(string)
		if !ok {
			return nil
		}
		return o.with("body", body.with("message", m+"."))
	},
	"text": func(_ []step, o object) object {
		if s, ok := find(o, "body").(string); ok {
			return o.with("body", s+".")
		}
		return nil
	},
	"new field": func(_ []step, o object) object {
		if body, ok := find(o, "body").(object); ok {
			return o.with("body", body.with("extra", nil))
		}
		return nil
	},
	"missing field": func(_ []step, o object) object {
		if body, ok := find(o, "body").(object); ok && len(body) > 0 {
			return o.with("body", body[:len(body)-1])
		}
		return nil
	},
	"missing item": func(_ []step, o object) object {
		body, items := withItems(o)
		if len(items) == 0 {
			return nil
		}
		return o.with("body", body.with("items", items[1:]))
	},
	"new item": func(s []step, o object) object {
		body, items := withItems(o)
		if items == nil || s[len(s)-1].Until.Count != nil {
			return nil
		}
		return o.with("body", body.with("items", append(slices.Clip(items), object{})))
	},
	"order of items": func(_ []step, o object) object {
		body, items := withItems(o)
		if len(items) < 2 || strings.HasPrefix(fmt.Sprint(find(items[0], "metadata/name")), "$") {
			return nil // generated names have no order
		}
		items = slices.Clone(items)
		slices.Reverse(items)
		return o.with("body", body.with("items", items))
	},
	"uid": func(s []step, o object) object {
		return inMetadata(s, o, "uid", uuid("other"))
	},
	"resource version": func(s []step, o object) object {
		return inMetadata(s, o, "resourceVersion", "77")
	},
	"event":           inEvents(1, func(events []any) { events[0] = events[0].(object).with("type", "OTHER") }),
	"order of events": inEvents(2, slices.Reverse[[]any]),
	"missing event": func(_ []step, o object) object {
		events, _ := find(o, "events").([]any)
		if len(events) == 0 {
			return nil
		}
		return o.with("events", events[:len(events)-1])
	},
}

// withItems returns the body and its items.
func withItems(o object) (object, []any) {
	body, _ := find(o, "body").(object)
	items, _ := find(body, "items").([]any)
	return body, items
}

// inMetadata changes a field of the body's metadata that had the same value in an earlier response. A new value that
// occurs only once would get the same name.
func inMetadata(s []step, o object, name, other string) object {
	body, _ := find(o, "body").(object)
	meta, _ := find(body, "metadata").(object)
	old, _ := find(meta, name).(string)
	if !strings.HasPrefix(old, "UID-") && !strings.HasPrefix(old, "RV-") {
		return nil
	}
	for _, before := range s[:len(s)-1] {
		if find(before.Expect.any, "body/metadata/"+name) == old {
			return o.with("body", body.with("metadata", meta.with(name, other)))
		}
	}
	return nil
}

// inEvents changes a copy of the events, if there are at least least events and their order is compared.
func inEvents(least int, c func([]any)) change {
	return func(s []step, o object) object {
		events, _ := find(o, "events").([]any)
		if len(events) < least || s[len(s)-1].Order == "any" {
			return nil
		}
		events = slices.Clone(events)
		c(events)
		return o.with("events", events)
	}
}
