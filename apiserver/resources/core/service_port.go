package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// servicePort validates one port; names are those of the ports before it, to which it adds its own.
func servicePort(p *corev1.ServicePort, named bool, names map[string]bool, at *field.Path) (errs field.ErrorList) {
	if p.Name == "" {
		if named {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
	} else {
		errs = append(errs, check.DNSLabel(p.Name, at.Child("name"))...)
		if names[p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		names[p.Name] = true
	}
	errs = append(errs, check.PortNumber(p.Port, at.Child("port"))...)
	errs = append(errs, check.Protocol(p.Protocol, at.Child("protocol"))...)
	errs = append(errs, check.PortOrName(p.TargetPort, at.Child("targetPort"))...)
	errs = append(errs, check.Given(p.AppProtocol, at.Child("appProtocol"), check.QualifiedName)...)
	return errs
}

// servicePorts validates the ports against each other and the type.
func servicePorts(s *corev1.Service, at *field.Path) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeClusterIP {
		for i, p := range s.Spec.Ports {
			if p.NodePort != 0 {
				errs = append(errs, field.Forbidden(at.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
			}
		}
	}
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	nodePorts := map[key]bool{}
	for i, p := range s.Spec.Ports {
		k := key{p.Protocol, p.NodePort}
		if p.NodePort != 0 && nodePorts[k] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("nodePort"), p.NodePort))
		}
		nodePorts[k] = true
	}
	ports := map[key]bool{}
	for i, p := range s.Spec.Ports {
		k := key{p.Protocol, p.Port}
		if ports[k] {
			errs = append(errs, field.Duplicate(at.Index(i), corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}))
		}
		ports[k] = true
	}
	return errs
}
