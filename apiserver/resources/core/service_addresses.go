package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const onceText = "may not change once set"

// validateClusterIPs validates clusterIPs and ipFamilies against each other.
func validateClusterIPs(s, old *corev1.Service) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	spec := field.NewPath("spec")
	ips, at := s.Spec.ClusterIPs, spec.Child("clusterIPs")
	switch {
	case s.Spec.ClusterIP == "":
		errs = append(errs, check.Reject(len(ips) != 0, at, ips, "must be empty when `clusterIP` is not specified")...)
	case len(ips) == 0:
		errs = append(errs, field.Required(at, ""))
	case ips[0] != s.Spec.ClusterIP:
		errs = append(errs, field.Invalid(at, ips, "first value must match `clusterIP`"))
	}
	errs = append(errs, validateFamilies(s, spec)...)
	wrong, bad := validateAddresses(ips, old.Spec.ClusterIPs, at)
	errs = append(errs, wrong...)
	if bad {
		return errs
	}
	if len(ips) > 1 {
		if dual, _ := netutils.IsDualStackIPStrings(ips); !dual {
			errs = append(errs, field.Invalid(at, ips, "may specify no more than one IP for each IP family"))
		}
	}
	if isHeadlessService(s) {
		return errs
	}
	for i, value := range ips[:min(len(ips), len(s.Spec.IPFamilies))] {
		if want := s.Spec.IPFamilies[i]; want == corev1.IPv4Protocol && netutils.IsIPv6String(value) ||
			want == corev1.IPv6Protocol && !netutils.IsIPv6String(value) {
			errs = append(errs, field.Invalid(at.Index(i), value,
				fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", want, i)))
		}
	}
	return errs
}

func validateFamilies(s *corev1.Service, spec *field.Path) (errs field.ErrorList) {
	seen := check.Unique[corev1.IPFamily]{}
	for i, family := range s.Spec.IPFamilies {
		at := spec.Child("ipFamilies").Index(i)
		errs = append(errs, check.OneOf(family, at, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol})...)
		errs = append(errs, seen.Add(family, at)...)
	}
	return append(errs, check.Given(s.Spec.IPFamilyPolicy, spec.Child("ipFamilyPolicy"), check.Among(
		corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack))...)
}

// validateAddresses validates each address. bad reports whether further errors would be misleading.
func validateAddresses(ips, had []string, at *field.Path) (errs field.ErrorList, bad bool) {
	for i, value := range ips {
		if i == 0 && value == corev1.ClusterIPNone {
			if len(ips) > 1 {
				bad = true
				errs = append(errs, field.Invalid(at, ips, "'None' must be the first and only value"))
			}
			continue
		}
		wrong := check.IP(value, at.Index(i), had)
		bad = bad || len(wrong) != 0
		errs = append(errs, wrong...)
	}
	errs = append(errs, check.Reject(len(ips) > 2, at, ips, "may only hold up to 2 values")...)
	return errs, bad
}

// validateClusterIPsUpdate allows an update to add or remove a second address.
func validateClusterIPsUpdate(s, old *corev1.Service, at *field.Path) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName ||
		isHeadlessService(s) && isHeadlessService(old) {
		return nil
	}
	now, was := s.Spec.ClusterIPs, old.Spec.ClusterIPs
	if len(now) == len(was) {
		for i := range was {
			errs = append(errs, check.Reject(now[i] != was[i], at.Index(i), now, onceText)...)
		}
		return errs
	}
	errs = append(errs, check.Reject(len(now) == 0, at.Index(0), now, "primary clusterIP can not be unset")...)
	errs = append(errs, check.Reject(len(now) > 0 && len(was) > 0 && now[0] != was[0], at.Index(0), now, onceText)...)
	if len(was) > len(now) && len(now) == 1 {
		errs = append(errs, singleStack(s, "must be set to 'SingleStack' when releasing the secondary clusterIP")...)
	}
	return errs
}

// validateFamiliesUpdate allows an update to add or remove a second family.
func validateFamiliesUpdate(s, old *corev1.Service, at *field.Path) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName ||
		isHeadlessService(s) || isHeadlessService(old) {
		return nil
	}
	now, was := s.Spec.IPFamilies, old.Spec.IPFamilies
	if len(now) == len(was) {
		for i := range was {
			errs = append(errs, check.Reject(now[i] != was[i], at.Index(0), now, onceText)...)
		}
		return errs
	}
	released := len(was) > len(now)
	errs = append(errs, check.Reject(released && len(s.Spec.ClusterIPs) == 0, at.Index(0), now,
		"primary ipFamily can not be unset")...)
	if len(now) > 0 && len(was) > 0 && now[0] != was[0] {
		// In upstream's error the value is the list of addresses.
		errs = append(errs, field.Invalid(at.Index(0), s.Spec.ClusterIPs, onceText))
	}
	if released && len(now) == 1 {
		errs = append(errs, singleStack(s, "must be set to 'SingleStack' when releasing the secondary ipFamily")...)
	}
	return errs
}

func singleStack(s *corev1.Service, text string) field.ErrorList {
	return check.Reject(check.ValueOf(s.Spec.IPFamilyPolicy) != corev1.IPFamilyPolicySingleStack,
		field.NewPath("spec", "ipFamilyPolicy"), s.Spec.IPFamilyPolicy, text)
}

// isHeadlessService reports whether a service has the cluster IP None.
func isHeadlessService(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}
