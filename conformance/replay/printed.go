package replay

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	// printedValue begins an object or a list that a message prints: Invalid value: {"a":"b"}.
	printedValue = regexp.MustCompile(` value: [{\[]`)
	// printedDiff is the difference of two objects: the lines of a unified diff.
	printedDiff = regexp.MustCompile(`(?m)^@@ [^\n]*(\n[-+ @][^\n]*)*`)
)

// WithoutPrinted returns a message with VALUE for each object and list that it prints, and DIFFERENCE for each
// difference of two objects. Kubernetes prints internal Go types there, whose fields have other names than in JSON and
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
		if err := d.Decode(&value); err != nil { // it is not printed as JSON
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

// withoutPrinted returns an answer with WithoutPrinted for each message in it.
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
