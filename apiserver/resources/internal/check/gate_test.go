package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGateRemovesFieldsThatOldValueLacks: a gate removes its fields at any depth, unless the old value has one of them.
func TestGateRemovesFieldsThatOldValueLacks(t *testing.T) {
	type inner struct{ On, Off *int }
	type outer struct {
		Listed []inner
		Named  map[string]inner
		One    *inner
		Text   string
	}
	drop := Gate[outer](FieldsOf[inner]("Off"))
	value := func(off *int) *outer {
		i := inner{new(int), off}
		return &outer{[]inner{i}, map[string]inner{"a": i}, &inner{new(int), off}, "text"}
	}
	for _, c := range []struct {
		name           string
		now, old, want *outer
	}{
		{"new", value(new(int)), nil, value(nil)},
		{"not used", value(new(int)), value(nil), value(nil)},
		{"used", value(new(int)), &outer{Named: map[string]inner{"b": {Off: new(int)}}}, value(new(int))},
		{"empty", &outer{}, nil, &outer{}},
	} {
		drop(c.now, c.old)
		if diff := cmp.Diff(c.want, c.now); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
