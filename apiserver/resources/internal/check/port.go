package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Protocols are the protocols of ports of containers, services and endpoints, in the order of error messages.
var Protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

// Protocol requires one of these.
func Protocol(p corev1.Protocol, at *field.Path) field.ErrorList { return Required(p, at, Protocols) }

// PortNumber requires 1 to 65535.
func PortNumber(port int32, at *field.Path) (errs field.ErrorList) {
	for _, text := range utilvalidation.IsValidPortNum(int(port)) {
		errs = append(errs, field.Invalid(at, port, text))
	}
	return errs
}

// NodeName requires a node's name.
func NodeName(name string, at *field.Path) field.ErrorList {
	return Apply(name, at, WholeName(apivalidation.NameIsDNSSubdomain))
}

// PortOrName requires a port's number or its name (core ValidatePortNumOrName).
func PortOrName(port intstr.IntOrString, at *field.Path) (errs field.ErrorList) {
	switch port.Type {
	case intstr.Int:
		for _, text := range utilvalidation.IsValidPortNum(port.IntValue()) {
			errs = append(errs, field.Invalid(at, port.IntValue(), text))
		}
	case intstr.String:
		errs = Apply(port.StrVal, at, utilvalidation.IsValidPortName)
	default:
		errs = field.ErrorList{field.InternalError(at, fmt.Errorf("unknown type: %v", port.Type))}
	}
	return errs
}
