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

// Ranges are the ranges in the flags of a server.
type Ranges struct {
	Addresses Addresses
	Ports     Ports
}

// Defaults returns the default ranges of kube-apiserver.
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

// ParseAddresses parses a range in a flag, such as 10.0.0.0/24, with 2 to 2^20 addresses.
func ParseAddresses(s string) (Addresses, error) {
	a, ok := ParseRange(s)
	if !ok {
		return Addresses{}, fmt.Errorf("%q: %w", s, errAddresses)
	}
	if bits := a.prefix.Bits(); bits < 12 || bits > 30 {
		return Addresses{}, fmt.Errorf("%q: its prefix must have 12 to 30 bits: %w", s, errAddresses)
	}
	return a, nil
}

// ParseRange parses a range of any size. ok is false if it isn't a range of IPv4 addresses.
func ParseRange(s string) (a Addresses, ok bool) {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4() {
		return Addresses{}, false
	}
	return Addresses{p.Masked()}, true
}

// String returns the range in CIDR notation.
func (a Addresses) String() string { return a.prefix.String() }

// First returns the address of the API server's own service.
func (a Addresses) First() netip.Addr { return a.at(0) }

// size returns the number of addresses without the network address and the broadcast address.
func (a Addresses) size() int { return max(1<<(32-a.prefix.Bits())-2, 0) }

// low returns the size of the lower part (see lowPart).
func (a Addresses) low() int { return lowPart(a.size()+2, 16, 16, 256) }

// has reports whether the range has the address, except for the network address and the broadcast address.
func (a Addresses) has(ip netip.Addr) bool {
	return a.prefix.Contains(ip) && ip != a.prefix.Addr() && a.prefix.Contains(ip.Next())
}

// at returns the address with an index, which must be less than the size.
func (a Addresses) at(n int) netip.Addr {
	var b [4]byte
	base := a.prefix.Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(base[:])+1+uint32(n))
	return netip.AddrFrom4(b)
}

// Ports is a range of node ports.
type Ports struct{ utilnet.PortRange }

// ParsePorts parses a range such as 30000-32767, or 30000+2767 (2767 ports after the first).
func ParsePorts(s string) (Ports, error) {
	p, err := utilnet.ParsePortRange(s)
	if err != nil || p.Size == 0 {
		return Ports{}, fmt.Errorf("%q: %w", s, errPorts)
	}
	return Ports{*p}, nil
}

// low returns the size of the lower part (see lowPart).
func (p Ports) low() int { return lowPart(p.Size, 32, 16, 128) }

// lowPart returns the size of the lower part of a range, which is left for clients that request a value: a share of the
// range between least and most, or none if the range is not larger than least (K KEP-3070, KEP-3668).
func lowPart(size, share, least, most int) int {
	if size <= least {
		return 0
	}
	return min(max(size/share, least), most)
}
