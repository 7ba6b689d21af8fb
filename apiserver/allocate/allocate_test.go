package allocate

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestEveryNumberIsReturnedOnce: with any random numbers, every number is returned once. The numbers of the lower part
// are returned last.
func TestEveryNumberIsReturnedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		size := 1 + r.IntN(300)
		low := r.IntN(size + 1)
		seen := map[int]bool{}
		taken := func(n int) bool { return seen[n] }
		for i := range size {
			n, ok := next(size, low, taken, r.IntN)
			if !ok || n < 0 || n >= size || seen[n] {
				t.Fatalf("size %d, low %d: number %d is %d, %v", size, low, i, n, ok)
			}
			if n < low && i < size-low {
				t.Fatalf("size %d, low %d: %d is returned while the upper part has some", size, low, n)
			}
			seen[n] = true
		}
		if n, ok := next(size, low, taken, r.IntN); ok {
			t.Fatalf("%d is returned though all are taken", n)
		}
	}
}

// TestFirstAndLastAddressAreUsed: a range of any size has its first and last usable address, but not the network and
// broadcast addresses.
func TestFirstAndLastAddressAreUsed(t *testing.T) {
	for text, size := range map[string]int{
		"10.0.0.0/24": 254, "192.168.7.128/30": 2, "10.96.0.0/12": 1<<20 - 2, "255.255.255.0/24": 254,
		"10.0.0.0/8": 1<<24 - 2, "10.0.0.0/31": 0, "10.0.0.1/32": 0,
	} {
		a, ok := ParseRange(text)
		if !ok || a.size() != size {
			t.Fatalf("%s has %d addresses, %v", text, a.size(), ok)
		}
		if a.has(a.prefix.Addr()) || size > 0 && a.has(a.at(size)) {
			t.Errorf("%s has the network's or the broadcast address", text)
		}
		for _, n := range []int{0, size - 1} {
			if size > 0 && !a.has(a.at(n)) {
				t.Errorf("%s does not have %v", text, a.at(n))
			}
		}
	}
}

// TestOverlappingRangesAllocateOnce: an address that two ranges have is allocated once, and the second range is used
// when the first is full.
func TestOverlappingRangesAllocateOnce(t *testing.T) {
	small, _ := ParseRange("10.0.0.0/30")
	large, _ := ParseRange("10.0.0.0/29")
	taken := NewTaken([]Addresses{small, large}, Ports{}, rand.IntN)
	seen := map[string]bool{}
	for range 6 {
		ip, err := taken.NextAddress()
		if err != nil || seen[ip] || len(seen) < 2 && !small.has(netip.MustParseAddr(ip)) {
			t.Fatalf("%s after %v: %v", ip, seen, err)
		}
		if err := taken.ClaimAddress(ip); err != errTakenIP {
			t.Errorf("claiming %s again: %v", ip, err)
		}
		seen[ip] = true
	}
	if ip, err := taken.NextAddress(); err != errFull {
		t.Errorf("full ranges: %q, %v", ip, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("10.0.0.0/24", "30000-32767")
	f.Add("::/64", "1+2")
	f.Fuzz(func(t *testing.T, addresses, ports string) {
		if a, err := ParseAddresses(addresses); err == nil {
			ip, err := NewTaken([]Addresses{a}, Ports{}, func(n int) int { return n - 1 }).NextAddress()
			if got, _ := netip.ParseAddr(ip); err != nil || !a.has(got) {
				t.Errorf("%q returns %v, %v", addresses, ip, err)
			}
		}
		if p, err := ParsePorts(ports); err == nil && !p.Contains(p.Base) {
			t.Errorf("%q doesn't have its first port", ports)
		}
	})
}
