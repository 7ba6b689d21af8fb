package customresource

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
)

// randomSchema returns a schema with properties a to d, items, or additional properties. Some of them have defaults.
func randomSchema(r *rand.Rand, depth int) *schema.Structural {
	s := &schema.Structural{}
	s.Nullable = r.IntN(3) == 0
	if r.IntN(3) == 0 {
		s.Default.Object = randomValue(r, depth)
	}
	if depth == 0 {
		return s
	}
	switch r.IntN(3) {
	case 0:
		s.Items = randomSchema(r, depth-1)
	case 1:
		s.AdditionalProperties = &schema.StructuralOrBool{Bool: true}
		if r.IntN(4) > 0 {
			s.AdditionalProperties.Structural = randomSchema(r, depth-1)
		}
	default:
		s.Properties = map[string]schema.Structural{}
		for _, name := range []string{"a", "b", "c", "d"} {
			if r.IntN(3) > 0 {
				s.Properties[name] = *randomSchema(r, depth-1)
			}
		}
	}
	return s
}

func randomValue(r *rand.Rand, depth int) any {
	switch r.IntN(5) {
	case 0:
		return nil
	case 1, 2:
		m := map[string]any{}
		for _, name := range []string{"a", "b", "c", "e"} {
			if depth > 0 && r.IntN(2) > 0 {
				m[name] = randomValue(r, depth-1)
			}
		}
		return m
	case 3:
		var l []any
		for range r.IntN(4) * min(depth, 1) {
			l = append(l, randomValue(r, depth-1))
		}
		return l
	}
	return int64(r.IntN(100))
}

// TestDefaultsSize: the number of bytes that defaults add is computed before they are set.
func TestDefaultsSize(t *testing.T) {
	set := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, value := randomSchema(r, 4), randomValue(r, 4)
		d := defaultsOf(s)
		before, _ := json.Marshal(value)
		missing := d.missing(value, maxDefaulted)
		defaulting.Default(value, s)
		after, _ := json.Marshal(value)
		if grown := len(after) - len(before); missing < grown {
			t.Fatalf("seed %d: %d bytes were expected, %d have come:\n%s\n%s", seed, missing, grown, before, after)
		} else if grown > 0 {
			set++
		}
		if rest := d.missing(value, maxDefaulted); rest != 0 && !strings.Contains(string(after), "null") {
			t.Fatalf("seed %d: %d bytes are missing still: %s", seed, rest, after)
		}
	}
	if set < 1000 {
		t.Errorf("defaults were set in %d cases only", set)
	}
}

// TestNestedDefaults: defaults within defaults multiply. Their size is computed without setting any of them.
func TestNestedDefaults(t *testing.T) {
	s := &schema.Structural{}
	for range 6 { // 100 to the power of 6 items
		list := make([]any, 100)
		for i := range list {
			list[i] = map[string]any{}
		}
		outer := schema.Structural{Items: s}
		outer.Default.Object = list
		s = &schema.Structural{Properties: map[string]schema.Structural{"x": outer}}
	}
	content := map[string]any{}
	n := testing.AllocsPerRun(1, func() {
		if err := defaultsOf(s).fill(content); err != errDefaults {
			t.Errorf("%v, %d members", err, len(content))
		}
	})
	if n > 10_000 || len(content) > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestValidationIsLimited: the computed cost of an object grows with the schema and with the object.
func TestValidationIsLimited(t *testing.T) {
	enum := func(n int) (v schema.ValueValidation) {
		for i := range n {
			v.Enum = append(v.Enum, schema.JSON{Object: fmt.Sprint(i)})
		}
		return v
	}
	all := enum(50)
	junctor := &schema.ValueValidation{
		AnyOf: []schema.NestedValueValidation{{Items: &schema.NestedValueValidation{ValueValidation: all}}},
	}
	wide := schema.Structural{Properties: map[string]schema.Structural{}}
	for i := range 100 {
		wide.Properties[fmt.Sprint(i)] = schema.Structural{}
	}
	for _, c := range []struct {
		what      string
		s         schema.Structural
		x         any
		low, high int
	}{
		{"an enum", schema.Structural{ValueValidation: &all}, "x", 50, 60},
		{
			"for each item", schema.Structural{Items: &schema.Structural{ValueValidation: &all}}, make([]any, 1000), 50_000,
			60_000,
		},
		{
			"for each item, below a junctor", schema.Structural{Items: &schema.Structural{}, ValueValidation: junctor},
			make([]any, 1000), 50_000, 60_000,
		},
		{"properties of each item", schema.Structural{Items: &wide}, repeated(1000), 100_000, 110_000},
		{
			"a pattern", schema.Structural{ValueValidation: &schema.ValueValidation{Pattern: "^(a{100}|b{100})*$"}},
			strings.Repeat("a", 1600), 20_000, 40_000,
		},
		{
			"no pattern", schema.Structural{ValueValidation: &schema.ValueValidation{Pattern: "("}}, strings.Repeat("a", 1600),
			1, 10,
		},
	} {
		if n := costOf(&c.s, nil).of(c.x, maxComparisons); n < c.low || n > c.high {
			t.Errorf("%s: %d", c.what, n)
		}
		if n := costOf(&c.s, nil).of(c.x, 10); n < min(c.low, 11) || n > 200 && c.what[0] != 'a' {
			t.Errorf("%s: %d when 10 were enough", c.what, n)
		}
	}
}

func repeated(n int) (out []any) {
	for range n {
		out = append(out, map[string]any{})
	}
	return out
}
