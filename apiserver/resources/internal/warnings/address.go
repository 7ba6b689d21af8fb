package warnings

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilnet "k8s.io/utils/net"
)

// OfAddress warns of addresses that are not canonical; validation reports invalid ones.
func OfAddress(at *field.Path, ip string) []string {
	if utilnet.ParseIPSloppy(ip) == nil {
		return nil
	}
	return validation.GetWarningsForIP(at, ip)
}

// OfRange warns of a CIDR that is not canonical.
func OfRange(at *field.Path, cidr string) []string {
	if _, _, err := utilnet.ParseCIDRSloppy(cidr); err != nil {
		return nil
	}
	return validation.GetWarningsForCIDR(at, cidr)
}

// LoadBalancerIP is the path of load balancer addresses in a status.
var LoadBalancerIP = field.NewPath("status", "loadBalancer", "ingress")
