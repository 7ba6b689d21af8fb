package storage

import (
	"slices"
	"sync"
	"testing"
)

// kept returns which of the objects keep an encoding.
func kept(e *Encodings, objs []*Object) (which []int) {
	for i, o := range objs {
		if kept := o.encoding.Load(); kept != nil && kept != admitted { // Get would count as a use
			which = append(which, i)
		}
	}
	return which
}

func some(n int) (objs []*Object) {
	for range n {
		objs = append(objs, &Object{})
	}
	return objs
}

// TestEncodings: an object keeps an encoding between Admit and Release, and the bytes are counted.
func TestEncodings(t *testing.T) {
	e, objs := NewEncodings(100), some(2)
	o, other := objs[0], objs[1]
	data := make([]byte, 40)
	e.Keep(o, data)
	if e.Get(o) != nil || e.Bytes() != 0 {
		t.Error("an object that was not admitted keeps an encoding")
	}
	e.Admit(o)
	if e.Get(o) != nil {
		t.Error("an object has an encoding before one is made")
	}
	e.Keep(o, data)
	e.Keep(o, make([]byte, 50))
	e.Admit(o)
	if len(e.Get(o)) != 40 || e.Bytes() != 40 {
		t.Errorf("%d bytes are kept, %d counted, want the first 40", len(e.Get(o)), e.Bytes())
	}
	e.Admit(other)
	e.Keep(other, make([]byte, 61))
	if e.Get(other) != nil || e.Bytes() != 40 {
		t.Errorf("the limit is exceeded: %d bytes", e.Bytes())
	}
	e.Keep(other, make([]byte, 60))
	if len(e.Get(other)) != 60 || e.Bytes() != 100 {
		t.Errorf("%d bytes are kept up to the limit", e.Bytes())
	}
	e.Release(o)
	e.Release(o)
	e.Keep(o, data)
	if e.Get(o) != nil || e.Bytes() != 60 {
		t.Errorf("a released object keeps an encoding: %d bytes", e.Bytes())
	}
}

// TestEncodingsSweep: when more was declined than several times the limit, those are dropped that were not used since
// the sweep before.
func TestEncodingsSweep(t *testing.T) {
	e, objs := NewEncodings(30), some(4)
	for _, o := range objs {
		e.Admit(o)
	}
	ten := make([]byte, 10)
	for _, o := range objs[:3] {
		e.Keep(o, ten)
	}
	fill := func() {
		t.Helper()
		for i := 1; i <= 12; i++ {
			if full := e.Keep(objs[3], ten); full != (i == 12) {
				t.Fatalf("declined %d times: full is %v", i, full)
			}
		}
		e.Sweep(slices.Values(objs))
	}
	fill()
	if got := kept(e, objs); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("after the first sweep %v are kept, but all were used before it", got)
	}
	e.Get(objs[1])
	fill()
	if got := kept(e, objs); !slices.Equal(got, []int{1}) || e.Bytes() != 10 {
		t.Errorf("after the second sweep %v are kept, %d bytes; only 1 was used", got, e.Bytes())
	}
	e.Keep(objs[3], ten)
	if got := kept(e, objs); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("%v are kept once there is space", got)
	}
}

// TestEncodingsConcurrently: whatever keeps, drops and sweeps at the same time, the count is that of what is kept.
func TestEncodingsConcurrently(t *testing.T) {
	e, objs := NewEncodings(500), some(64)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20_000 {
				o := objs[(i*7+g*13)%len(objs)]
				switch (i + g) % 5 {
				case 0:
					e.Admit(o)
				case 1, 2:
					if e.Keep(o, make([]byte, 10+i%7)) {
						e.Sweep(slices.Values(objs))
					}
				case 3:
					e.Get(o)
				case 4:
					if i%3 == 0 {
						e.Release(o)
					}
				}
			}
		})
	}
	wg.Wait()
	var sum int64
	for _, i := range kept(e, objs) {
		sum += int64(len(objs[i].encoding.Load().data))
	}
	if e.Bytes() != sum || sum > 500 {
		t.Errorf("%d bytes are counted, %d are kept, at most 500 may be", e.Bytes(), sum)
	}
}
