package allocate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Defaults of kube-apiserver's flags.
const (
	DefaultAddresses = "10.0.0.0/24"
	DefaultPorts     = "30000-32767"
)

var (
	errAddresses = errors.New("one range of IPv4 addresses is needed, as in " + DefaultAddresses)
	errPorts     = errors.New("a range of ports is needed, as in " + DefaultPorts)
)

// Ranges is what a cluster has to give.
type Ranges struct {
	Addresses Addresses
	Ports     Ports
}

// Defaults are the ranges that kube-apiserver has by default.
func Defaults() Ranges {
	a, err := ParseAddresses(DefaultAddresses)
	p, err2 := ParsePorts(DefaultPorts)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // they are constants
	}
	return Ranges{a, p}
}

// Addresses is a range of IPv4 addresses for services. The zero value has none.
type Addresses struct{ prefix netip.Prefix }

// ParseAddresses reads a range like 10.0.0.0/24. It has between 2 and 2^20 addresses.
func ParseAddresses(s string) (Addresses, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4() {
		return Addresses{}, fmt.Errorf("%q: %w", s, errAddresses)
	}
	if p.Bits() < 12 || p.Bits() > 30 {
		return Addresses{}, fmt.Errorf("%q: its prefix must have 12 to 30 bits: %w", s, errAddresses)
	}
	return Addresses{p.Masked()}, nil
}

// String is the range as it was written.
func (a Addresses) String() string { return a.prefix.String() }

// First is the address that the service of the API server itself has.
func (a Addresses) First() netip.Addr { return a.at(0) }

// size is how many addresses can be given: neither the network's own nor the one for broadcasts.
func (a Addresses) size() int { return 1<<(32-a.prefix.Bits()) - 2 }

// pool is all of the range, free.
func (a Addresses) pool() *Pool { return NewPool(a.size(), lowPart(a.size()+2, 16, 16, 256)) }

// at is the address of a number of the pool.
func (a Addresses) at(n int) netip.Addr {
	var b [4]byte
	base := a.prefix.Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(base[:])+1+uint32(n))
	return netip.AddrFrom4(b)
}

// number is the reverse of at; it is out of the pool for addresses out of the range.
func (a Addresses) number(ip netip.Addr) int {
	if !a.prefix.Contains(ip) {
		return -1
	}
	base, b := a.prefix.Addr().As4(), ip.As4()
	return int(binary.BigEndian.Uint32(b[:])-binary.BigEndian.Uint32(base[:])) - 1
}

// Ports is a range of ports for nodes.
type Ports struct{ utilnet.PortRange }

// ParsePorts reads a range like 30000-32767, or 30000+2767 (as many after the first).
func ParsePorts(s string) (Ports, error) {
	p, err := utilnet.ParsePortRange(s)
	if err != nil || p.Size == 0 {
		return Ports{}, fmt.Errorf("%q: %w", s, errPorts)
	}
	return Ports{*p}, nil
}

// pool is all of the range, free.
func (p Ports) pool() *Pool { return NewPool(p.Size, lowPart(p.Size, 32, 16, 128)) }
