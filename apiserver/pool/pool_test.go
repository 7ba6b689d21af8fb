package pool

import (
	"fmt"
	"testing"
)

// TestPool: however many users flood it, another's body finds room, and the bytes stay within the bound. Bodies of
// requests that are being served are not cut off.
func TestPool(t *testing.T) {
	const limit, largest, cost = 256 << 20, 3 << 20, 32 << 10
	p := Pool{limit: limit}
	var cut int
	fill := func(user string, size int) (all []*Holding) {
		for {
			r := p.Begin(user, func(bool) { cut++ })
			all = append(all, r)
			if !r.Take(size) {
				return all
			}
		}
	}
	var all []*Holding
	for f := range 40 {
		all = append(all, fill(fmt.Sprint("flood", f), largest)...)
		all = append(all, fill(fmt.Sprint("small", f), cost)...)
	}
	if p.held > limit || p.held < limit/2 {
		t.Errorf("%d bytes in all", p.held)
	}
	before := cut
	other := p.Begin("other", func(bool) { cut++ })
	if !other.Take(cost+1) || !other.Take(1<<20) || cut == before {
		t.Errorf("another user's body is rejected; %d were cut off for it", cut-before)
	}
	if !other.Serve() {
		t.Error("another user's request was cut off")
	}
	for _, r := range append(all, other) {
		r.End()
		r.End()
	}
	if p.held != 0 || len(p.by) != 0 {
		t.Errorf("%d bytes of %v are left", p.held, p.by)
	}
	served := p.Begin("big", func(bool) { cut++ })
	if !served.Take(limit-cost) || !served.Serve() {
		t.Fatal("no room where there is no other")
	}
	if late := p.Begin("late", func(bool) { cut++ }); late.Take(largest) || !late.Take(cost) {
		t.Error("room was made at the cost of a request that is being served, or there was none")
	}
}

// TestPoolLimit: a pool with less than others cuts off sooner.
func TestPoolLimit(t *testing.T) {
	p := Pool{limit: 1 << 20}
	cut := 0
	first := p.Begin("a", func(bool) { cut++ })
	if !first.Take(1<<20) || p.Begin("b", func(bool) {}).Take(1<<20+1) || !p.Begin("c", func(bool) {}).Take(1<<10) ||
		cut != 1 {
		t.Errorf("%d bytes, %d were cut off", p.held, cut)
	}
}

// TestHolders: accounts of a namespace, which one user may impersonate all, count as one.
func TestHolders(t *testing.T) {
	for user, want := range map[string]string{
		"alice": "alice", "system:serviceaccount:a:b": "system:serviceaccount:a",
		"system:serviceaccount:a:c": "system:serviceaccount:a",
	} {
		if got := HolderOf(user); got != want {
			t.Errorf("%s: %s", user, got)
		}
	}
}

// TestPoolShares: what several requests share counts once, for one of them as long as there is one.
func TestPoolShares(t *testing.T) {
	p := Pool{limit: 100}
	var cut []string
	begin := func(user string) *Holding { return p.Begin(user, func(bool) { cut = append(cut, user) }) }
	holds := func(what string, all int64, by map[*Holding]int64) {
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
	share := func(r *Holding, key any, bytes int64) {
		t.Helper()
		if !r.Share(key, bytes) {
			t.Fatalf("%s: no room for %v", r.user, key)
		}
	}
	a, b, c := begin("a"), begin("b"), begin("c")
	share(a, "x", 60)
	share(a, "x", 60)
	share(b, "x", 60)
	share(b, "y", 10)
	holds("two share", 70, map[*Holding]int64{a: 60, b: 10})
	a.Unshare()
	holds("the payer leaves", 70, map[*Holding]int64{a: 0, b: 70})
	share(c, "x", 60)
	if !c.Take(40) {
		t.Error("no room, though another user has more")
	}
	if len(cut) != 1 || cut[0] != "b" {
		t.Errorf("cut off: %v", cut)
	}
	holds("the payer was cut off", 100, map[*Holding]int64{b: 0, c: 100})
	if b.Share("x", 60) || c.Share("z", 10) {
		t.Error("a request that was cut off shares, or one without room")
	}
	b.Unshare()
	c.Unshare()
	holds("the last leaves", 40, map[*Holding]int64{c: 40})
	share(a, "x", 60)
	share(c, "x", 60)
	a.End()
	holds("the payer ends", 100, map[*Holding]int64{c: 100})
	for _, r := range []*Holding{a, b, c} {
		r.End()
	}
	if p.held != 0 || len(p.by) != 0 || len(p.pins) != 0 {
		t.Errorf("%d bytes of %v are left, %v", p.held, p.by, p.pins)
	}
}
