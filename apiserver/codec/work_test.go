package codec

import (
	"strings"
	"testing"
)

// TestBytesCountOncePerLevel: a document's bytes count once for each level, even if it is not valid JSON. Brackets in
// strings are not levels.
func TestBytesCountOncePerLevel(t *testing.T) {
	const size = 2 << 20 // the bound is 64 levels of as much
	levels := func(n int, inside string) string { return strings.Repeat("[", n) + inside + strings.Repeat("]", n) }
	long := strings.Repeat("x", size)
	for name, c := range map[string]struct {
		document string
		rejected bool
	}{
		"63 levels":              {levels(63, `"`+long+`"`), false},
		"64 levels":              {levels(64, `"`+long+`"`), true},
		"64 levels with escapes": {levels(64, `"`+strings.Repeat(`\"`, size/2)+`"`), true},
		"brackets in a string":   {levels(30, `"`+strings.Repeat("[", size)+`"`), false},
		"brackets one by one":    {levels(30, strings.Repeat("[],", maxValues/2-100)+"0"), false},
		"too many values":        {levels(30, strings.Repeat("[],", maxValues/2)+"0"), true},
		"values in a string":     {`"` + strings.Repeat(",", size) + `"`, false},
		"no end":                 {strings.Repeat("[", 64) + long, true},
		"a string without end":   {strings.Repeat("[", 64) + `"` + long, true},
		"too many ends":          {strings.Repeat("]", 100) + levels(63, long), false},
		"small":                  {strings.Repeat("[", 4000), false},
	} {
		if _, err := measure([]byte(c.document)); (err != nil) != c.rejected {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e, err := measure([]byte("[" + strings.Repeat("[],", maxValues) + "0]")); err == nil || e.elements != maxValues+1 {
		t.Errorf("a list after too many values has %d elements: %v", e.elements, err)
	}
}
