package check

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Natural requires a number of zero or more.
func Natural[N ~int32 | ~int64](n N, at *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(n), at)
}

// Naturals requires zero or more for the number n, if it is set. name is the name of its field.
func Naturals[N ~int32 | ~int64](at *field.Path, name string, n *N) field.ErrorList {
	return Given(n, at.Child(name), Natural)
}

// IntOrPercent requires a non-negative number or a percentage (apps ValidatePositiveIntOrPercent).
func IntOrPercent(v intstr.IntOrString, at *field.Path) (errs field.ErrorList) {
	switch v.Type {
	case intstr.String:
		for _, text := range utilvalidation.IsValidPercent(v.StrVal) {
			errs = append(errs, field.Invalid(at, v, text))
		}
		return errs
	case intstr.Int:
		return apivalidation.ValidateNonnegativeField(int64(v.IntValue()), at)
	}
	return field.ErrorList{field.Invalid(at, v, "must be an integer or percentage (e.g '5%%')")}
}

// PercentOf returns the number of a percentage, and reports whether v is a percentage.
func PercentOf(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(utilvalidation.IsValidPercent(v.StrVal)) != 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return n, true
}

// AtMostWhole rejects more than 100% (apps IsNotMoreThan100Percent).
func AtMostWhole(v intstr.IntOrString, at *field.Path) field.ErrorList {
	n, _ := PercentOf(v)
	return Reject(n > 100, at, v, "must not be greater than 100%")
}

// Protocols are the protocols of ports of containers, services and endpoints, in the order of error messages.
var Protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

// Protocol requires one of Protocols.
func Protocol(p corev1.Protocol, at *field.Path) field.ErrorList { return Required(p, at, Protocols) }

// PortNumber requires 1 to 65535.
func PortNumber(port int32, at *field.Path) field.ErrorList {
	return Apply(int(port), at, utilvalidation.IsValidPortNum)
}

// PortOrName requires a port's number or its name (core ValidatePortNumOrName).
func PortOrName(port intstr.IntOrString, at *field.Path) field.ErrorList {
	switch port.Type {
	case intstr.Int:
		return PortNumber(port.IntVal, at)
	case intstr.String:
		return Apply(port.StrVal, at, utilvalidation.IsValidPortName)
	}
	return field.ErrorList{field.InternalError(at, fmt.Errorf("unknown type: %v", port.Type))}
}
