package allocate

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	netutils "k8s.io/utils/net"
)

// Errors of allocations. Clients see them.
var (
	errTakenIP    = errors.New("provided IP is already allocated")
	errTakenPort  = errors.New("provided port is already allocated")
	errFull       = errors.New("range is full")
	errOtherRange = errors.New("the provided network does not match the current range")
)

// Taken has the allocated cluster IPs and node ports. It is a Source of free ones.
type Taken struct {
	ranges    []Addresses
	addresses map[netip.Addr]bool
	portRange Ports
	ports     map[int32]bool
	pick      func(n int) int
}

// NewTaken returns a Taken without allocations. Addresses are allocated from the first range that has a free one. A
// search starts at the number pick(n), which is random and less than n.
func NewTaken(ranges []Addresses, ports Ports, pick func(n int) int) *Taken {
	return &Taken{ranges, map[netip.Addr]bool{}, ports, map[int32]bool{}, pick}
}

// AddAddress records an allocated address. It ignores "None" and an empty address.
func (t *Taken) AddAddress(ip string) {
	if a, ok := parse(ip); ok {
		t.addresses[a] = true
	}
}

// AddPort records a service's node port.
func (t *Taken) AddPort(port int32) { t.ports[port] = true }

// parse parses an address. Like upstream, it accepts leading zeros.
func parse(ip string) (netip.Addr, bool) {
	a, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(ip))
	return a.Unmap(), ok
}

// ClaimAddress allocates the address that a client requests (K ipallocator/cidrallocator.go: getAllocator).
func (t *Taken) ClaimAddress(ip string) error {
	a, ok := parse(ip)
	switch {
	case !ok || !slices.ContainsFunc(t.ranges, func(r Addresses) bool { return r.has(a) }):
		return errOtherRange
	case t.addresses[a]:
		return errTakenIP
	}
	t.addresses[a] = true
	return nil
}

// NextAddress implements Source.
func (t *Taken) NextAddress() (string, error) {
	for _, r := range t.ranges {
		if n, ok := next(r.size(), r.low(), func(n int) bool { return t.addresses[r.at(n)] }, t.pick); ok {
			t.addresses[r.at(n)] = true
			return r.at(n).String(), nil
		}
	}
	return "", errFull
}

// ClaimPort allocates the port that a client requests.
func (t *Taken) ClaimPort(port int32) error {
	switch {
	case !t.portRange.Contains(int(port)):
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s",
			t.portRange.String())
	case t.ports[port]:
		return errTakenPort
	}
	t.ports[port] = true
	return nil
}

// NextPort implements Source.
func (t *Taken) NextPort() (int32, error) {
	at := func(n int) int32 { return int32(t.portRange.Base + n) }
	n, ok := next(t.portRange.Size, t.portRange.low(), func(n int) bool { return t.ports[at(n)] }, t.pick)
	if !ok {
		return 0, errFull
	}
	t.ports[at(n)] = true
	return at(n), nil
}

// next returns a number below size that is not taken, or false if there is none. It searches the numbers below low
// last, so that they stay free for clients that request one. A search starts at a random number, which pick chooses (0
// <= pick(n) < n).
func next(size, low int, taken func(n int) bool, pick func(n int) int) (int, bool) {
	for _, part := range [][2]int{{low, size}, {0, low}} {
		from, count := part[0], part[1]-part[0]
		if count == 0 {
			continue
		}
		start := pick(count)
		for i := range count {
			if n := from + (start+i)%count; !taken(n) {
				return n, true
			}
		}
	}
	return 0, false
}
