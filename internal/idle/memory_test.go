package idle

import "testing"

func TestSpare(t *testing.T) {
	const much = 1 << 30
	for _, c := range []struct {
		name        string
		before, now heap
		want        bool
	}{
		{"at work", heap{0, 0}, heap{much, much}, false},
		{"at rest, with much to spare", heap{much, 0}, heap{much + 1, much}, true},
		{"at rest, with nothing to spare", heap{much, 0}, heap{much + 1, 1}, false},
	} {
		if got := spare(c.before, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if m := look(); m.allocated == 0 {
		t.Errorf("%+v", m)
	}
}
