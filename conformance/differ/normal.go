package differ

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

func compareAnswers(sides [2]*side, op model.Op) *Difference {
	var text [2]string
	for i, s := range sides {
		text[i] = fmt.Sprintf("%d %s", s.answer.Code, normal(s.session, op, s.answer))
	}
	if text[0] == text[1] {
		return nil
	}
	return &Difference{What: fmt.Sprintf("the responses to %s differ", op), Reference: text[0], Candidate: text[1],
		about: "responses " + string(op.Verb)}
}

var (
	uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// versions are the resource versions in messages about preconditions (C-11, C-12).
	versions = regexp.MustCompile(`(ResourceVersion[a-z ]*(?:\(|: ))\d+`)
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
)

var (
	// differing are the fields of metadata that always differ between servers.
	differing = []string{"resourceVersion", "creationTimestamp", "deletionTimestamp", "selfLink"}
	// reported are the fields of an Event about its reporter, its count and its times.
	reported = []string{
		"firstTimestamp", "lastTimestamp", "eventTime", "count", "series", "source", "reportingComponent",
		"reportingInstance",
	}
)

// normal returns the body without the values that may differ between two correct servers.
func normal(s *drive.Session, op model.Op, a drive.Answer) string {
	var body any
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return string(a.Body)
	}
	clean(body)
	b, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("differ: %v", err)) // it came from JSON
	}
	text := uuid.ReplaceAllStringFunc(string(b), func(uid string) string {
		if sym := s.Symbol(uid); string(sym) != uid {
			return string(sym)
		}
		return "uid"
	})
	return times.ReplaceAllString(versions.ReplaceAllString(text, "${1}version"), "...")
}

// clean removes such values from all metadata and Events, and removes the Events that a server itself has created.
func clean(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			clean(x)
		}
	case map[string]any:
		if m, ok := v["metadata"].(map[string]any); ok {
			delete(m, "managedFields")
			for _, f := range differing {
				if _, there := m[f]; there {
					m[f] = "..."
				}
			}
		}
		if _, event := v["involvedObject"]; event {
			for _, f := range reported {
				delete(v, f)
			}
		}
		if v["kind"] != "Status" {
			delete(v, "status") // other controllers write it at an unknown time
		}
		if items, ok := v["items"].([]any); ok {
			v["items"] = slices.DeleteFunc(items, own)
		}
		for _, x := range v {
			clean(x)
		}
	}
}

// own reports whether an item is an Event that a server has created: only the names of those have a dot.
func own(item any) bool {
	o, _ := item.(map[string]any)
	m, _ := o["metadata"].(map[string]any)
	name, _ := m["name"].(string)
	_, event := o["involvedObject"]
	return event && strings.Contains(name, ".")
}
