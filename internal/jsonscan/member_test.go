package jsonscan

import "testing"

func TestMemberIsFoundOnFirstLevel(t *testing.T) {
	for _, c := range []struct{ object, name, want string }{
		{`{"a":1, "b" : {"c":[1,{"b":2}]} ,"d":3}`, "b", `{"c":[1,{"b":2}]}`},
		{`{"a":{"b":1},"b":"x"}`, "b", `"x"`},
		{`{"\u0062":1}`, "b", `1`},
		{`{"b":1,"b":2}`, "b", `2`},
		{`{"a":1}`, "b", ""},
		{`{}`, "b", ""},
		{`[{"b":1}]`, "b", ""},
		{`{"a":`, "b", ""},
		{`{"b":[1`, "b", ""},
	} {
		if from, to := Member([]byte(c.object), c.name); c.object[from:to] != c.want {
			t.Errorf("%s of %s is %q, want %q", c.name, c.object, c.object[from:to], c.want)
		}
	}
}
