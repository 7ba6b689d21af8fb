package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Difference is a difference between a response and the recorded one.
type Difference struct {
	// Path is the path of the value, such as /body/metadata/labels.
	Path string `json:"path"`
	// Recorded and Answered are JSON, or empty if there is no such field or item.
	Recorded string `json:"recorded,omitempty"`
	Answered string `json:"answered,omitempty"`
}

// compare returns the differences between two responses. Without PrintedValues it ignores values in messages.
func (o Options) compare(recorded, answered any) []Difference {
	if !o.PrintedValues {
		recorded, answered = withoutPrinted(recorded), withoutPrinted(answered)
	}
	return compare(recorded, answered, "")
}

// compare returns the differences between two normalized values, in the order of the recorded value.
func compare(recorded, answered any, path string) []Difference {
	switch want := recorded.(type) {
	case object:
		if got, ok := answered.(object); ok {
			return compareObjects(want, got, path)
		}
	case []any:
		if got, ok := answered.([]any); ok {
			return compareLists(want, got, path)
		}
	default:
		if reflect.DeepEqual(recorded, answered) {
			return nil
		}
	}
	return []Difference{{path, show(recorded), show(answered)}}
}

func compareObjects(want, got object, path string) (all []Difference) {
	for _, f := range want {
		if v, ok := got.get(f.key); ok {
			all = append(all, compare(f.value, v, path+"/"+f.key)...)
		} else {
			all = append(all, Difference{Path: path + "/" + f.key, Recorded: show(f.value)})
		}
	}
	for _, f := range got {
		if _, ok := want.get(f.key); !ok {
			all = append(all, Difference{Path: path + "/" + f.key, Answered: show(f.value)})
		}
	}
	return all
}

func compareLists(want, got []any, path string) (all []Difference) {
	if strings.HasSuffix(path, "/finalizers") { // the server adds some itself; their order varies from run to run
		want, got = sorted(want), sorted(got)
	}
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s/%d", path, i)
		switch {
		case i >= len(got):
			all = append(all, Difference{Path: at, Recorded: show(want[i])})
		case i >= len(want):
			all = append(all, Difference{Path: at, Answered: show(got[i])})
		default:
			all = append(all, compare(want[i], got[i], at)...)
		}
	}
	return all
}

func sorted(list []any) []any {
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(show(a), show(b)) })
}

func show(v any) string {
	b, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("replay: %v doesn't become JSON: %v", v, err)) // impossible: the value was decoded from JSON
	}
	return string(b)
}

var (
	// printedValue is the beginning of an object or a list in a message: Invalid value: {"a":"b"}.
	printedValue = regexp.MustCompile(` value: [{\[]`)
	// printedDiff is a difference of two objects in a message: the lines of a unified diff.
	printedDiff = regexp.MustCompile(`(?m)^@@ [^\n]*(\n[-+ @][^\n]*)*`)
)

// WithoutPrinted returns a message with VALUE in place of each object and list, and DIFFERENCE in place of each
// difference of two objects. Kubernetes prints internal Go types there: their fields have other names than in JSON and
// another order. Strings and numbers stay.
func WithoutPrinted(message string) string {
	var b strings.Builder
	for {
		at := printedValue.FindStringIndex(message)
		if at == nil {
			break
		}
		begin := at[1] - 1
		d := json.NewDecoder(strings.NewReader(message[begin:]))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil { // the value is not printed as JSON
			b.WriteString(message[:at[1]])
			message = message[at[1]:]
			continue
		}
		b.WriteString(message[:begin] + "VALUE")
		message = message[begin+int(d.InputOffset()):]
	}
	b.WriteString(message)
	return printedDiff.ReplaceAllString(b.String(), "DIFFERENCE")
}

// withoutPrinted returns a response with WithoutPrinted applied to each message in it.
func withoutPrinted(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for i, f := range v {
			if message, ok := f.value.(string); ok && f.key == "message" {
				f.value = WithoutPrinted(message)
			} else {
				f.value = withoutPrinted(f.value)
			}
			out[i] = f
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutPrinted(v[i])
		}
		return out
	}
	return v
}
