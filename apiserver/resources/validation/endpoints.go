package validation

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

// protocol wants one of the three.
func protocol(p corev1.Protocol, at *field.Path) field.ErrorList { return required(p, at, protocols) }

// portNumber wants 1 to 65535.
func portNumber(port int32, at *field.Path) (errs field.ErrorList) {
	for _, text := range utilvalidation.IsValidPortNum(int(port)) {
		errs = append(errs, field.Invalid(at, port, text))
	}
	return errs
}

// nodeName wants a node's name.
func nodeName(name string, at *field.Path) field.ErrorList {
	return judge(name, at, whole(apivalidation.NameIsDNSSubdomain))
}

func endpoints(e *corev1.Endpoints) (errs field.ErrorList) {
	for i := range invalid.Each(e.Subsets, &errs) {
		errs = append(errs, endpointSubset(&e.Subsets[i], field.NewPath("subsets").Index(i))...)
	}
	return errs
}

// endpointsUpdate tolerates subsets that were there already.
func endpointsUpdate(e, old *corev1.Endpoints) field.ErrorList {
	errs := endpoints(e)
	if len(errs) == 0 || apiequality.Semantic.DeepEqual(e.Subsets, old.Subsets) {
		return nil
	}
	return errs
}

func endpointSubset(s *corev1.EndpointSubset, at *field.Path) (errs field.ErrorList) {
	if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
		errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
	}
	for i := range invalid.Each(s.Addresses, &errs) {
		errs = append(errs, endpointAddress(&s.Addresses[i], at.Child("addresses").Index(i))...)
	}
	for i := range invalid.Each(s.NotReadyAddresses, &errs) {
		errs = append(errs, endpointAddress(&s.NotReadyAddresses[i], at.Child("notReadyAddresses").Index(i))...)
	}
	for i := range invalid.Each(s.Ports, &errs) {
		errs = append(errs, endpointPort(&s.Ports[i], len(s.Ports) > 1, at.Child("ports").Index(i))...)
	}
	return errs
}

func endpointAddress(a *corev1.EndpointAddress, at *field.Path) field.ErrorList {
	errs := ip(a.IP, at.Child("ip"), nil)
	if a.Hostname != "" {
		errs = append(errs, label(a.Hostname, at.Child("hostname"))...)
	}
	if a.NodeName != nil {
		errs = append(errs, nodeName(*a.NodeName, at.Child("nodeName"))...)
	}
	return append(errs, reachableIP(a.IP, at.Child("ip"))...)
}

func endpointPort(p *corev1.EndpointPort, named bool, at *field.Path) (errs field.ErrorList) {
	if p.Name != "" {
		errs = append(errs, label(p.Name, at.Child("name"))...)
	} else if named {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, portNumber(p.Port, at.Child("port"))...)
	errs = append(errs, protocol(p.Protocol, at.Child("protocol"))...)
	if p.AppProtocol != nil {
		errs = append(errs, qualified(*p.AppProtocol, at.Child("appProtocol"))...)
	}
	return errs
}
