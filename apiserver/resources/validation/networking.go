package validation

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const maxIngressController = 250

var parameterScopes = []string{networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace}

func ingressClass(c *networkingv1.IngressClass) (errs field.ErrorList) {
	at := field.NewPath("spec")
	if c.Spec.Controller == "" {
		errs = append(errs, field.Required(at.Child("controller"), ""))
	} else {
		if len(c.Spec.Controller) > maxIngressController {
			errs = append(errs, field.TooLong(at.Child("controller"), "", maxIngressController))
		}
		errs = append(errs, utilvalidation.IsDomainPrefixedPath(at.Child("controller"), c.Spec.Controller)...)
	}
	if c.Spec.Parameters != nil {
		errs = append(errs, classParameters(c.Spec.Parameters, at.Child("parameters"))...)
	}
	return errs
}

func ingressClassUpdate(c, old *networkingv1.IngressClass) field.ErrorList {
	errs := immutable(c.Spec.Controller, old.Spec.Controller, field.NewPath("spec", "controller"))
	return append(errs, ingressClass(c)...)
}

func classParameters(p *networkingv1.IngressClassParametersReference, at *field.Path) (errs field.ErrorList) {
	if p.APIGroup != nil {
		errs = append(errs, subdomain(*p.APIGroup, at.Child("apiGroup"))...)
	}
	errs = append(errs, segment(p.Kind, at.Child("kind"))...)
	errs = append(errs, segment(p.Name, at.Child("name"))...)
	if p.Scope == nil {
		return append(errs, field.Required(at.Child("scope"), ""))
	}
	ns := at.Child("namespace")
	switch *p.Scope {
	case networkingv1.IngressClassParametersReferenceScopeNamespace:
		if p.Namespace == nil {
			errs = append(errs, field.Required(ns, "`parameters.scope` is set to 'Namespace'"))
		} else {
			errs = append(errs, judge(*p.Namespace, ns, whole(apivalidation.ValidateNamespaceName))...)
		}
	case networkingv1.IngressClassParametersReferenceScopeCluster:
		if p.Namespace != nil {
			errs = append(errs, field.Forbidden(ns, "`parameters.scope` is set to 'Cluster'"))
		}
	default:
		errs = append(errs, oneOf(*p.Scope, at.Child("scope"), parameterScopes)...)
	}
	return errs
}

func ipAddress(a *networkingv1.IPAddress) (errs field.ErrorList) {
	at, p := field.NewPath("spec", "parentRef"), a.Spec.ParentRef
	if p == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	if p.Group != "" {
		errs = append(errs, subdomain(p.Group, at.Child("group"))...)
	}
	errs = append(errs, segment(p.Resource, at.Child("resource"))...)
	errs = append(errs, segment(p.Name, at.Child("name"))...)
	if p.Namespace != "" {
		errs = append(errs, judge(p.Namespace, at.Child("namespace"), content.IsPathSegmentName)...)
	}
	return errs
}

func ipAddressUpdate(a, old *networkingv1.IPAddress) field.ErrorList {
	return append(ipAddress(a), immutable(a.Spec.ParentRef, old.Spec.ParentRef, field.NewPath("spec", "parentRef"))...)
}

func serviceCIDR(c *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	at, cidrs := field.NewPath("spec", "cidrs"), c.Spec.CIDRs
	switch {
	case len(cidrs) == 0:
		return field.ErrorList{field.Required(at, "at least one CIDR required")}
	case len(cidrs) > 2:
		return field.ErrorList{field.Invalid(at, internal(c.Spec), "may only hold up to 2 values")}
	}
	for i, value := range invalid.Each(cidrs, &errs) {
		errs = append(errs, utilvalidation.IsValidCIDR(at.Index(i), value)...)
	}
	if len(cidrs) == 2 {
		if family := netutils.IPFamilyOfCIDRString(cidrs[0]); family != netutils.IPFamilyUnknown && family == netutils.IPFamilyOfCIDRString(cidrs[1]) {
			errs = append(errs, field.Invalid(at, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
		}
	}
	return errs
}

// serviceCIDRUpdate lets a second family be added, and nothing else.
func serviceCIDRUpdate(c, old *networkingv1.ServiceCIDR) field.ErrorList {
	errs := serviceCIDR(c)
	at, now, was := field.NewPath("spec", "cidrs"), c.Spec.CIDRs, old.Spec.CIDRs
	switch {
	case len(now) == len(was):
		for i := range invalid.Each(was, &errs) {
			errs = append(errs, immutable(now[i], was[i], at.Index(i))...)
		}
	case len(was) == 1 && len(now) == 2:
		errs = append(errs, immutable(now[0], was[0], at.Index(0))...)
		errs = append(errs, serviceCIDR(c)...)
	default:
		errs = append(errs, field.Invalid(at, now, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}
