package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const onlyBalancerText = "may only be used when `type` is 'LoadBalancer'"

// sourceRanges validates the field. Without the field it validates the annotation that the field replaced.
func sourceRanges(s, old *corev1.Service, at *field.Path) (errs field.ErrorList) {
	var had []string
	for _, value := range old.Spec.LoadBalancerSourceRanges {
		had = append(had, strings.TrimSpace(value))
	}
	val, annotated := s.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if len(s.Spec.LoadBalancerSourceRanges) == 0 {
		if !annotated {
			return nil
		}
		at = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	}
	errs = append(errs, check.Forbid(s.Spec.Type != corev1.ServiceTypeLoadBalancer, at, onlyBalancerText)...)
	for i, value := range s.Spec.LoadBalancerSourceRanges {
		errs = append(errs, check.CIDR(strings.TrimSpace(value), at.Index(i), had)...)
	}
	was, before := old.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if len(s.Spec.LoadBalancerSourceRanges) > 0 || strings.TrimSpace(val) == "" || before && was == val {
		return errs
	}
	for _, value := range strings.Split(val, ",") {
		errs = append(errs, check.CIDR(strings.TrimSpace(value), at, nil)...)
	}
	return errs
}

// balancer validates the fields of load balancers.
func balancer(s *corev1.Service, spec *field.Path) (errs field.ErrorList) {
	is := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	errs = append(errs, check.Forbid(s.Spec.AllocateLoadBalancerNodePorts != nil && !is,
		spec.Child("allocateLoadBalancerNodePorts"), onlyBalancerText)...)
	errs = append(errs, check.Present(!is || s.Spec.AllocateLoadBalancerNodePorts != nil,
		field.NewPath("allocateLoadBalancerNodePorts"), "")...)
	return append(errs, loadBalancerClass(s, nil, spec.Child("loadBalancerClass"))...)
}

// loadBalancerClass validates the class, and its change on update.
func loadBalancerClass(s, old *corev1.Service, at *field.Path) (errs field.ErrorList) {
	class := s.Spec.LoadBalancerClass
	if old != nil && old.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.Type == old.Spec.Type &&
		!check.SamePointee(class, old.Spec.LoadBalancerClass) {
		errs = append(errs, field.Invalid(at, class, "may not change once set"))
	}
	switch {
	case class == nil:
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer:
		errs = append(errs, check.QualifiedName(*class, at)...)
	default:
		errs = append(errs, field.Forbidden(at, onlyBalancerText))
	}
	return errs
}

func traffic(s *corev1.Service, spec *field.Path) (errs field.ErrorList) {
	policy, at := s.Spec.ExternalTrafficPolicy, spec.Child("externalTrafficPolicy")
	switch {
	case !servesExternally(&s.Spec):
		errs = append(errs, check.Reject(policy != "", at, policy, "may only be set for externally-accessible services")...)
	default:
		errs = append(errs, check.Required(policy, at, externalPolicies)...)
	}
	port, at := s.Spec.HealthCheckNodePort, spec.Child("healthCheckNodePort")
	switch {
	case !hasHealthCheck(&s.Spec):
		errs = append(errs, check.Reject(port != 0, at, port,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")...)
	case port == 0:
		errs = append(errs, field.Required(at, ""))
	default:
		errs = append(errs, check.PortNumber(port, at)...)
	}
	if p := s.Spec.InternalTrafficPolicy; p != nil {
		errs = append(errs, check.OneOf(*p, spec.Child("internalTrafficPolicy"), internalPolicies)...)
	} else if s.Spec.Type == corev1.ServiceTypeClusterIP || hasNodePort(&s.Spec) {
		errs = append(errs, field.Required(spec.Child("internalTrafficPolicy"), ""))
	}
	errs = append(errs, check.GivenOneOf(s.Spec.TrafficDistribution, spec.Child("trafficDistribution"), distributions)...)
	return errs
}

// servesExternally reports whether a service can be reached from outside of the cluster (ExternallyAccessible).
func servesExternally(s *corev1.ServiceSpec) bool {
	return hasNodePort(s) || s.Type == corev1.ServiceTypeClusterIP && len(s.ExternalIPs) > 0
}

// validateServiceStatus validates the addresses of a load balancer.
func validateServiceStatus(s, old *corev1.Service) (errs field.ErrorList) {
	at := field.NewPath("status", "loadBalancer", "ingress")
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer && len(s.Status.LoadBalancer.Ingress) != 0 {
		return field.ErrorList{field.Forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	var had []string
	for _, in := range old.Status.LoadBalancer.Ingress {
		had = append(had, in.IP)
	}
	for i, in := range s.Status.LoadBalancer.Ingress {
		at := at.Index(i)
		if in.IP != "" {
			errs = append(errs, check.IP(in.IP, at.Child("ip"), had)...)
		}
		switch {
		case in.IPMode == nil && in.IP != "":
			errs = append(errs, field.Required(at.Child("ipMode"), "must be specified when `ip` is set"))
		case in.IPMode != nil && in.IP == "":
			errs = append(errs, field.Forbidden(at.Child("ipMode"), "may not be specified when `ip` is not set"))
		case in.IPMode != nil:
			errs = append(errs, check.OneOf(*in.IPMode, at.Child("ipMode"), ipModes)...)
		}
		errs = append(errs, check.BalancerHost(in.Hostname, at.Child("hostname"))...)
	}
	return errs
}

var ipModes = []corev1.LoadBalancerIPMode{corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP}
