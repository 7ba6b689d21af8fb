package apiserver

import "testing"

// TestPoolShares: what several requests share counts once, for one of them as long as there is one.
func TestPoolShares(t *testing.T) {
	p := pool{limit: 100}
	var cut []string
	begin := func(user string) *holding { return p.begin(user, func(bool) { cut = append(cut, user) }) }
	holds := func(what string, all int64, by map[*holding]int64) {
		t.Helper()
		if p.held != all {
			t.Errorf("%s: %d bytes are held, not %d", what, p.held, all)
		}
		for r, want := range by {
			if r.bytes != want {
				t.Errorf("%s: %s pays %d bytes, not %d", what, r.user, r.bytes, want)
			}
		}
	}
	share := func(r *holding, key any, bytes int64) {
		t.Helper()
		if !r.share(key, bytes) {
			t.Fatalf("%s: no room for %v", r.user, key)
		}
	}
	a, b, c := begin("a"), begin("b"), begin("c")
	share(a, "x", 60)
	share(a, "x", 60)
	share(b, "x", 60)
	share(b, "y", 10)
	holds("two share", 70, map[*holding]int64{a: 60, b: 10})
	a.unshare()
	holds("the payer leaves", 70, map[*holding]int64{a: 0, b: 70})
	share(c, "x", 60)
	if !c.take(40) {
		t.Error("no room, though another user has more")
	}
	if len(cut) != 1 || cut[0] != "b" {
		t.Errorf("cut off: %v", cut)
	}
	holds("the payer was cut off", 100, map[*holding]int64{b: 0, c: 100})
	if b.share("x", 60) || c.share("z", 10) {
		t.Error("a request that was cut off shares, or one without room")
	}
	b.unshare()
	c.unshare()
	holds("the last leaves", 40, map[*holding]int64{c: 40})
	share(a, "x", 60)
	share(c, "x", 60)
	a.end()
	holds("the payer ends", 100, map[*holding]int64{c: 100})
	for _, r := range []*holding{a, b, c} {
		r.end()
	}
	if p.held != 0 || len(p.by) != 0 || len(p.pins) != 0 {
		t.Errorf("%d bytes of %v are left, %v", p.held, p.by, p.pins)
	}
}
