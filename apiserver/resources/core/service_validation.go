package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var (
	serviceTypes = []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName,
		corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort}
	affinities       = []corev1.ServiceAffinity{corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone}
	externalPolicies = []corev1.ServiceExternalTrafficPolicy{
		corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal}
	internalPolicies = []corev1.ServiceInternalTrafficPolicy{
		corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal}
	distributions = []string{corev1.ServiceTrafficDistributionPreferClose,
		corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode}
)

func validateServiceCreate(s *corev1.Service) field.ErrorList {
	return validateService(s, &corev1.Service{})
}

func validateServiceUpdate(s, old *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateClusterIPsUpdate(s, old, spec.Child("clusterIPs"))
	errs = append(errs, validateFamiliesUpdate(s, old, spec.Child("ipFamilies"))...)
	errs = append(errs, loadBalancerClass(s, old, spec.Child("loadBalancerClass"))...)
	changed := s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort
	errs = append(errs, check.Forbid(changed && hasHealthCheck(&old.Spec) && hasHealthCheck(&s.Spec),
		spec.Child("healthCheckNodePort"), "field is immutable")...)
	return append(errs, validateService(s, old)...)
}

// validateService validates the whole object. It does not validate unchanged addresses again.
func validateService(s, old *corev1.Service) (errs field.ErrorList) {
	meta, spec := field.NewPath("metadata"), field.NewPath("spec")
	hints, hinted := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	mode, moded := s.Annotations[corev1.AnnotationTopologyMode]
	errs = append(errs, check.Reject(hinted && moded && hints != mode,
		meta.Child("annotations").Key(corev1.AnnotationTopologyMode), mode,
		fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints))...)
	portless := isHeadlessService(s) || s.Spec.Type == corev1.ServiceTypeExternalName
	errs = append(errs, check.Present(len(s.Spec.Ports) > 0 || portless, spec.Child("ports"), "")...)
	errs = append(errs, serviceOfType(s, spec)...)
	names := check.Unique[string]{}
	for i := range s.Spec.Ports {
		errs = append(errs, servicePort(&s.Spec.Ports[i], len(s.Spec.Ports) > 1, names, spec.Child("ports").Index(i))...)
	}
	errs = append(errs, metav1validation.ValidateLabels(s.Spec.Selector, spec.Child("selector"))...)
	errs = append(errs, sessionAffinity(s, spec)...)
	errs = append(errs, validateClusterIPs(s, old)...)
	for i, value := range s.Spec.ExternalIPs {
		at := spec.Child("externalIPs").Index(i)
		if wrong := check.IP(value, at, old.Spec.ExternalIPs); len(wrong) != 0 {
			errs = append(errs, wrong...)
		} else {
			errs = append(errs, check.ReachableIP(value, at)...)
		}
	}
	errs = append(errs, check.Required(s.Spec.Type, spec.Child("type"), serviceTypes)...)
	errs = append(errs, servicePorts(s, spec.Child("ports"))...)
	errs = append(errs, sourceRanges(s, old, spec.Child("LoadBalancerSourceRanges"))...)
	errs = append(errs, balancer(s, spec)...)
	return append(errs, traffic(s, spec)...)
}

// serviceOfType validates the fields that only one type of service has.
func serviceOfType(s *corev1.Service, spec *field.Path) (errs field.ErrorList) {
	switch s.Spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if isHeadlessService(s) {
			errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(0), s.Spec.ClusterIPs[0],
				fmt.Sprintf("may not be set to 'None' for %s services", s.Spec.Type)))
		}
	case corev1.ServiceTypeExternalName:
		const text = "may not be set for ExternalName services"
		errs = append(errs, check.Forbid(len(s.Spec.ClusterIPs) > 0, spec.Child("clusterIPs"), text)...)
		errs = append(errs, check.Forbid(len(s.Spec.IPFamilies) > 0, spec.Child("ipFamilies"), text)...)
		errs = append(errs, check.Forbid(s.Spec.IPFamilyPolicy != nil, spec.Child("ipFamilyPolicy"), text)...)
		cname := strings.TrimSuffix(s.Spec.ExternalName, ".")
		errs = append(errs, check.Needed(cname, spec.Child("externalName"), check.DNSSubdomain)...)
	}
	return errs
}

func sessionAffinity(s *corev1.Service, spec *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Required(s.Spec.SessionAffinity, spec.Child("sessionAffinity"), affinities)...)
	config, at := s.Spec.SessionAffinityConfig, spec.Child("sessionAffinityConfig")
	switch s.Spec.SessionAffinity {
	case corev1.ServiceAffinityClientIP:
		errs = append(errs, clientIPAffinity(config, at)...)
	case corev1.ServiceAffinityNone:
		errs = append(errs, check.Forbid(config != nil, at, "must not be set when session affinity is None")...)
	}
	return errs
}

func clientIPAffinity(config *corev1.SessionAffinityConfig, at *field.Path) field.ErrorList {
	const when = "when session affinity type is ClientIP"
	const day = 24 * 60 * 60
	switch {
	case config == nil:
		return field.ErrorList{field.Required(at, when)}
	case config.ClientIP == nil:
		return field.ErrorList{field.Required(at.Child("clientIP"), when)}
	case config.ClientIP.TimeoutSeconds == nil:
		return field.ErrorList{field.Required(at.Child("clientIP").Child("timeoutSeconds"), when)}
	}
	seconds := *config.ClientIP.TimeoutSeconds
	return check.Reject(seconds <= 0 || seconds > day, at.Child("clientIP").Child("timeoutSeconds"), seconds,
		fmt.Sprintf("must be greater than 0 and less than %d", day))
}

// servicePort validates one port. names are the names of earlier ports, to which it adds the port's name.
func servicePort(p *corev1.ServicePort, named bool, names check.Unique[string], at *field.Path) field.ErrorList {
	errs := check.Present(p.Name != "" || !named, at.Child("name"), "")
	errs = append(errs, check.NonEmpty(p.Name, at.Child("name"), check.DNSLabel)...)
	errs = append(errs, check.NonEmpty(p.Name, at.Child("name"), names.Add)...)
	errs = append(errs, check.PortNumber(p.Port, at.Child("port"))...)
	errs = append(errs, check.Protocol(p.Protocol, at.Child("protocol"))...)
	errs = append(errs, check.PortOrName(p.TargetPort, at.Child("targetPort"))...)
	return append(errs, check.Given(p.AppProtocol, at.Child("appProtocol"), check.QualifiedName)...)
}

// servicePorts validates rules for several ports, and for the service's type.
func servicePorts(s *corev1.Service, at *field.Path) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeClusterIP {
		for i, p := range s.Spec.Ports {
			errs = append(errs, check.Forbid(p.NodePort != 0, at.Index(i).Child("nodePort"),
				"may not be used when `type` is 'ClusterIP'")...)
		}
	}
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	nodePorts, ports := map[key]bool{}, check.Unique[corev1.ServicePort]{}
	for i, p := range s.Spec.Ports {
		k := key{p.Protocol, p.NodePort}
		if p.NodePort != 0 && nodePorts[k] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("nodePort"), p.NodePort))
		}
		nodePorts[k] = true
	}
	for i, p := range s.Spec.Ports {
		errs = append(errs, ports.Add(corev1.ServicePort{Protocol: p.Protocol, Port: p.Port}, at.Index(i))...)
	}
	return errs
}
