package allocate

import (
	"math/rand/v2"
	"testing"
)

// TestPool: whatever chance says, every number of a pool is given once, those of its lower part last.
func TestPool(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		size := 1 + r.IntN(300)
		low := r.IntN(size + 1)
		p, seen := NewPool(size, low), map[int]bool{}
		for i := range size {
			n, ok := p.Next(r.IntN)
			if !ok || n < 0 || n >= size || seen[n] {
				t.Fatalf("size %d, low %d: number %d is %d, %v", size, low, i, n, ok)
			}
			if n < low && i < size-low {
				t.Fatalf("size %d, low %d: %d is given while the upper part has some", size, low, n)
			}
			if seen[n] = true; !p.Has(n) || p.Take(n) {
				t.Fatalf("%d isn't taken", n)
			}
		}
		if n, ok := p.Next(r.IntN); ok {
			t.Fatalf("a full pool gives %d", n)
		}
	}
}

// TestAddresses: at and number undo each other, at both ends of a range too.
func TestAddresses(t *testing.T) {
	for _, text := range []string{"10.0.0.0/24", "192.168.7.128/30", "10.96.0.0/12", "255.255.255.0/24"} {
		a, err := ParseAddresses(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, a.size() - 1} {
			if got := a.number(a.at(n)); got != n || !a.prefix.Contains(a.at(n)) {
				t.Errorf("%s: number %d is %v, which is number %d", text, n, a.at(n), got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("10.0.0.0/24", "30000-32767")
	f.Add("::/64", "1+2")
	f.Fuzz(func(t *testing.T, addresses, ports string) {
		if a, err := ParseAddresses(addresses); err == nil {
			if n, ok := a.pool().Next(func(n int) int { return n - 1 }); !ok || a.number(a.at(n)) != n {
				t.Errorf("%q gives %v", addresses, a.at(n))
			}
		}
		if p, err := ParsePorts(ports); err == nil && !p.Contains(p.Base) {
			t.Errorf("%q doesn't have its first port", ports)
		}
	})
}
