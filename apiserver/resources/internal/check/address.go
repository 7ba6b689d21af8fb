package check

import (
	"fmt"
	"slices"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// IP requires a valid address by StrictIPCIDRValidation, which is on by default since 1.36. Values of the old object
// stay allowed.
func IP(value string, at *field.Path, had []string) field.ErrorList {
	return tolerateOld(value, had, utilvalidation.IsValidIPForLegacyField(at, value, true, nil))
}

// CIDR requires a valid network by the same rules.
func CIDR(value string, at *field.Path, had []string) field.ErrorList {
	return tolerateOld(value, had, utilvalidation.IsValidCIDRForLegacyField(at, value, true, nil))
}

// tolerateOld drops the errors of a value that the old object has. It searches only for invalid values, because both
// lists may be long.
func tolerateOld(value string, had []string, errs field.ErrorList) field.ErrorList {
	if len(errs) > 0 && slices.Contains(had, value) {
		return nil
	}
	return errs
}

// ReachableIP rejects addresses that have another meaning on each node (core ValidateEndpointIP).
func ReachableIP(value string, at *field.Path) (errs field.ErrorList) {
	addr := netutils.ParseIPSloppy(value)
	if addr == nil {
		return field.ErrorList{field.Invalid(at, value, "must be a valid IP address")}
	}
	for _, c := range []struct {
		is   bool
		text string
	}{
		{addr.IsUnspecified(), fmt.Sprintf("may not be unspecified (%v)", value)},
		{addr.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{addr.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{addr.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"},
	} {
		errs = append(errs, Reject(c.is, at, value, c.text)...)
	}
	return errs
}
