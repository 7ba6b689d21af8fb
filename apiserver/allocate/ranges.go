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

// Ranges are the ranges from which a cluster allocates.
type Ranges struct {
	Addresses Addresses
	Ports     Ports
}

// Defaults are the default ranges of kube-apiserver.
func Defaults() Ranges {
	a, err := ParseAddresses(DefaultAddresses)
	p, err2 := ParsePorts(DefaultPorts)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // they are constants
	}
	return Ranges{a, p}
}

// Addresses is a range of IPv4 addresses for services. The zero value is empty.
type Addresses struct{ prefix netip.Prefix }

// ParseAddresses parses a range like 10.0.0.0/24 with 2 to 2^20 addresses.
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

// String is the range in CIDR notation.
func (a Addresses) String() string { return a.prefix.String() }

// First is the address of the API server's own service.
func (a Addresses) First() netip.Addr { return a.at(0) }

// size is the number of addresses without the network's and the broadcast address.
func (a Addresses) size() int { return 1<<(32-a.prefix.Bits()) - 2 }

// pool is a pool of the whole range.
func (a Addresses) pool() *Pool { return NewPool(a.size(), lowPart(a.size()+2, 16, 16, 256)) }

// at is the address with a number in the pool.
func (a Addresses) at(n int) netip.Addr {
	var b [4]byte
	base := a.prefix.Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(base[:])+1+uint32(n))
	return netip.AddrFrom4(b)
}

// number is the inverse of at; it is not in the pool for addresses outside of the range.
func (a Addresses) number(ip netip.Addr) int {
	if !a.prefix.Contains(ip) {
		return -1
	}
	base, b := a.prefix.Addr().As4(), ip.As4()
	return int(binary.BigEndian.Uint32(b[:])-binary.BigEndian.Uint32(base[:])) - 1
}

// Ports is a range of node ports.
type Ports struct{ utilnet.PortRange }

// ParsePorts parses a range like 30000-32767, or 30000+2767 (2767 ports after the first).
func ParsePorts(s string) (Ports, error) {
	p, err := utilnet.ParsePortRange(s)
	if err != nil || p.Size == 0 {
		return Ports{}, fmt.Errorf("%q: %w", s, errPorts)
	}
	return Ports{*p}, nil
}

// pool is a pool of the whole range.
func (p Ports) pool() *Pool { return NewPool(p.Size, lowPart(p.Size, 32, 16, 128)) }
