package allocate

import (
	"errors"
	"fmt"
	"net/netip"

	netutils "k8s.io/utils/net"
)

// The errors of allocations, as clients see them.
var (
	errTakenIP    = errors.New("provided IP is already allocated")
	errTakenPort  = errors.New("provided port is already allocated")
	errFull       = errors.New("range is full")
	errOtherRange = errors.New("the provided network does not match the current range")
)

// Taken are the allocations of a cluster's services.
type Taken struct {
	ranges    Ranges
	addresses *Pool
	ports     *Pool
}

// Taken returns a state without allocations.
func (r Ranges) Taken() *Taken {
	return &Taken{ranges: r, addresses: r.Addresses.pool(), ports: r.Ports.pool()}
}

// AddAddress records a service's address. It ignores "None", an empty address and those outside of the range.
func (t *Taken) AddAddress(ip string) {
	if a, ok := parse(ip); ok {
		t.addresses.Take(t.ranges.Addresses.number(a))
	}
}

// AddPort records a service's node port. It ignores 0 and ports outside of the range.
func (t *Taken) AddPort(port int32) { t.ports.Take(int(port) - t.ranges.Ports.Base) }

// parse parses an address as leniently as upstream, with leading zeros.
func parse(ip string) (netip.Addr, bool) {
	a, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(ip))
	return a.Unmap(), ok
}

// claimAddress allocates the address that a client requests.
func (t *Taken) claimAddress(ip string) error {
	a, ok := parse(ip)
	if !ok || !t.ranges.Addresses.prefix.Contains(a) {
		return errOtherRange
	}
	n := t.ranges.Addresses.number(a)
	switch {
	case n < 0 || n >= t.ranges.Addresses.size():
		return fmt.Errorf(
			"the provided IP (%v) is not in the valid range. The range of valid IPs is %s", a, t.ranges.Addresses,
		)
	case !t.addresses.Take(n):
		return errTakenIP
	}
	return nil
}

func (t *Taken) nextAddress(pick func(int) int) (string, error) {
	n, ok := t.addresses.Next(pick)
	if !ok {
		return "", errFull
	}
	return t.ranges.Addresses.at(n).String(), nil
}

// claimPort allocates the port that a client requests.
func (t *Taken) claimPort(port int32) error {
	r := t.ranges.Ports
	switch {
	case !r.Contains(int(port)):
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", r.String())
	case !t.ports.Take(int(port) - r.Base):
		return errTakenPort
	}
	return nil
}

func (t *Taken) nextPort(pick func(int) int) (int32, error) {
	n, ok := t.ports.Next(pick)
	if !ok {
		return 0, errFull
	}
	return int32(t.ranges.Ports.Base + n), nil
}
