package allocate

import (
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	netutils "k8s.io/utils/net"
)

// What is wrong with an address or a port, in the words that clients see.
var (
	errTakenIP    = errors.New("provided IP is already allocated")
	errTakenPort  = errors.New("provided port is already allocated")
	errFull       = errors.New("range is full")
	errOtherRange = errors.New("the provided network does not match the current range")
)

// Taken is what the services of a cluster have of its ranges.
type Taken struct {
	ranges    Ranges
	addresses *Pool
	ports     *Pool
}

// Taken returns a state in which nothing is taken.
func (r Ranges) Taken() *Taken {
	return &Taken{ranges: r, addresses: r.Addresses.pool(), ports: r.Ports.pool()}
}

// AddAddress says that a service has the address; "None", an empty one and those out of the range
// are nobody's.
func (t *Taken) AddAddress(ip string) {
	if a, ok := parse(ip); ok {
		t.addresses.Take(t.ranges.Addresses.number(a))
	}
}

// AddPorts says that a service has its node ports, the one for health checks among them.
func (t *Taken) AddPorts(s *corev1.ServiceSpec) {
	for _, p := range append(nodePorts(s), s.HealthCheckNodePort) {
		t.ports.Take(int(p) - t.ranges.Ports.Base)
	}
}

// parse reads an address as sloppily as upstream does, with leading zeros.
func parse(ip string) (netip.Addr, bool) {
	a, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(ip))
	return a.Unmap(), ok
}

// claimAddress takes the address that a client names.
func (t *Taken) claimAddress(ip string) error {
	a, ok := parse(ip)
	if !ok || !t.ranges.Addresses.prefix.Contains(a) {
		return errOtherRange
	}
	n := t.ranges.Addresses.number(a)
	switch {
	case n < 0 || n >= t.ranges.Addresses.size():
		return fmt.Errorf("the provided IP (%v) is not in the valid range. The range of valid IPs is %s", a, t.ranges.Addresses)
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

// claimPort takes the port that a client names.
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

// nodePorts are those of the service's ports that are set.
func nodePorts(s *corev1.ServiceSpec) (out []int32) {
	for i := range s.Ports {
		if p := s.Ports[i].NodePort; p != 0 {
			out = append(out, p)
		}
	}
	return out
}
