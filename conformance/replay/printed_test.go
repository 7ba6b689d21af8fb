package replay

import "testing"

// TestOnlyPrintedValuesAreRemoved: objects, lists and differences in messages are not compared; other parts are.
func TestOnlyPrintedValuesAreRemoved(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{`spec.a: Invalid value: "{x}": not a name`, `spec.a: Invalid value: "{x}": not a name`},
		{`spec.a: Invalid value: {"B":["}"]}: is immutable`, `spec.a: Invalid value: VALUE: is immutable`},
		{`[a: Duplicate value: {"K":1}, b: Invalid value: [{"K":null}]: must be sorted]`,
			`[a: Duplicate value: VALUE, b: Invalid value: VALUE: must be sorted]`},
		{`a: Invalid value: {K:1}: b: Invalid value: {}: no`, `a: Invalid value: {K:1}: b: Invalid value: VALUE: no`},
		{"spec: Forbidden: is immutable\n@@ -1,2 +1,2 @@\n {\n- \"A\": 1\n+ \"A\": 2\n }\n@@ -9,1 +9,1 @@\n-a\n+b\n, c: Required value",
			"spec: Forbidden: is immutable\nDIFFERENCE\n, c: Required value"},
	} {
		if got := WithoutPrinted(c.message); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.message, got, c.want)
		}
	}
}

// TestPrintedValuesAreComparedOnRequest: responses with different printed values are equal, unless the option is set.
func TestPrintedValuesAreComparedOnRequest(t *testing.T) {
	answer := func(message string) any {
		return object{{"body", object{{"message", message}, {"causes", []any{object{{"message", message}}}}}}}
	}
	recorded, ours := answer(`a: Invalid value: {"B":null}: no`), answer(`a: Invalid value: {}: no`)
	if d := (Options{}).compare(recorded, ours); len(d) != 0 {
		t.Errorf("differences: %v", d)
	}
	if d := (Options{PrintedValues: true}).compare(recorded, ours); len(d) != 2 {
		t.Errorf("differences with the option: %v", d)
	}
	if d := (Options{}).compare(recorded, answer(`a: Invalid value: {}: other`)); len(d) != 2 {
		t.Errorf("differences of another message: %v", d)
	}
}
