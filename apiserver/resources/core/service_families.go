package core

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// servedFamily is the only family of allocated addresses.
const servedFamily = corev1.IPv4Protocol

// setFamilies sets a service's address families, or returns the reason why the cluster can't serve the requested ones
// (initIPFamilyFields). old is nil on create. On update, omitted values have been copied from old.
func setFamilies(s, old *corev1.Service) error {
	spec := &s.Spec
	if spec.Type == corev1.ServiceTypeExternalName || familiesUnchanged(s, old) {
		return nil
	}
	if spec.IPFamilyPolicy == nil {
		policy := defaultPolicy(spec, old)
		spec.IPFamilyPolicy = &policy
	}
	before := cmp.Or(old, &corev1.Service{})
	if errs := validateClusterIPs(s, before); len(errs) > 0 {
		return invalidService(s, errs)
	}
	errs := keepFamilies(spec, &before.Spec, old != nil)
	errs = append(errs, inferFamilies(spec)...)
	if len(errs) > 0 {
		return invalidService(s, errs)
	}
	if selectorless(spec) {
		bothFamilies(spec)
		return nil
	}
	if errs := unserved(spec); len(errs) > 0 {
		return invalidService(s, errs)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{servedFamily}
	}
	return nil
}

func invalidService(s *corev1.Service, errs field.ErrorList) error {
	return invalid.New(schema.GroupKind{Kind: "Service"}, s.Name, errs)
}

// familiesUnchanged reports whether an update leaves a PreferDualStack service unchanged. Such a service keeps its
// families even if those of the cluster change (isMatchingPreferDualStackClusterIPFields).
func familiesUnchanged(s, old *corev1.Service) bool {
	if old == nil || s.Spec.Type != old.Spec.Type ||
		check.ValueOf(s.Spec.IPFamilyPolicy) != corev1.IPFamilyPolicyPreferDualStack {
		return false
	}
	if p := old.Spec.IPFamilyPolicy; p != nil && *p != corev1.IPFamilyPolicyPreferDualStack {
		return false
	}
	return slices.Equal(s.Spec.ClusterIPs, old.Spec.ClusterIPs) && slices.Equal(s.Spec.IPFamilies, old.Spec.IPFamilies)
}

// selectorless reports whether a service is headless and has no selector. Its addresses are unknown, so it may have
// both families in any cluster.
func selectorless(s *corev1.ServiceSpec) bool {
	return s.ClusterIP == corev1.ClusterIPNone && len(s.Selector) == 0
}

func defaultPolicy(s *corev1.ServiceSpec, old *corev1.Service) corev1.IPFamilyPolicy {
	switch {
	case old != nil && old.Spec.IPFamilyPolicy != nil:
		return *old.Spec.IPFamilyPolicy
	case selectorless(s):
		return corev1.IPFamilyPolicyRequireDualStack
	}
	return corev1.IPFamilyPolicySingleStack
}

// keepFamilies removes the second value of each field if the policy allows that. Otherwise it rejects the removal.
func keepFamilies(s, old *corev1.ServiceSpec, update bool) (errs field.ErrorList) {
	at := field.NewPath("spec", "ipFamilyPolicy")
	single := check.ValueOf(s.IPFamilyPolicy) == corev1.IPFamilyPolicySingleStack
	reject := func(when bool, message string) {
		errs = append(errs, check.Reject(when, at, s.IPFamilyPolicy, message)...)
	}
	if update && single {
		if len(s.ClusterIPs) > 1 && slices.Equal(s.ClusterIPs, old.ClusterIPs) {
			s.ClusterIPs = s.ClusterIPs[:1]
		}
		if len(s.IPFamilies) > 1 && slices.Equal(s.IPFamilies, old.IPFamilies) {
			s.IPFamilies = s.IPFamilies[:1]
		}
	}
	const both = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
	const release = "must be 'SingleStack' to release the secondary "
	reject(!single && omitsSome(s.ClusterIPs, old.ClusterIPs), release+"cluster IP")
	reject(!single && omitsSome(s.IPFamilies, old.IPFamilies), release+"IP family")
	reject(single && len(s.ClusterIPs) == 2, both+"cluster IPs are specified")
	reject(single && len(s.IPFamilies) == 2, both+"IP families are specified")
	return errs
}

// omitsSome reports whether now has some values, but fewer than was.
func omitsSome[T any](now, was []T) bool { return len(now) > 0 && len(now) < len(was) }

// inferFamilies sets the families of the requested addresses.
func inferFamilies(s *corev1.ServiceSpec) (errs field.ErrorList) {
	for i, ip := range s.ClusterIPs {
		if ip == corev1.ClusterIPNone {
			break
		}
		switch {
		case i < len(s.IPFamilies):
		case netutils.IsIPv4String(ip):
			s.IPFamilies = append(s.IPFamilies, corev1.IPv4Protocol)
		default:
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), s.ClusterIPs,
				fmt.Sprintf("%s is not configured on this cluster", corev1.IPv6Protocol)))
		}
	}
	return errs
}

// bothFamilies completes the fields of a service that may have both families.
func bothFamilies(s *corev1.ServiceSpec) {
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{servedFamily}
	}
	if len(s.IPFamilies) > 1 || check.ValueOf(s.IPFamilyPolicy) == corev1.IPFamilyPolicySingleStack {
		return
	}
	other := corev1.IPv6Protocol
	if s.IPFamilies[0] == corev1.IPv6Protocol {
		other = corev1.IPv4Protocol
	}
	s.IPFamilies = append(s.IPFamilies, other)
}

// unserved returns the errors for families that the cluster does not have.
func unserved(s *corev1.ServiceSpec) (errs field.ErrorList) {
	errs = append(errs, check.Reject(check.ValueOf(s.IPFamilyPolicy) == corev1.IPFamilyPolicyRequireDualStack,
		field.NewPath("spec", "ipFamilyPolicy"), s.IPFamilyPolicy,
		"this cluster is not configured for dual-stack services")...)
	for i, f := range s.IPFamilies {
		errs = append(errs, check.Reject(f != servedFamily, field.NewPath("spec", "ipFamilies").Index(i), f,
			"not configured on this cluster")...)
	}
	return errs
}
