package networking

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func serviceCIDRs() *entry.Resource {
	return &entry.Resource{
		Plural: "servicecidrs", New: entry.New[networkingv1.ServiceCIDR],
		Strategy: entry.Strategy{
			Validate: entry.ValidateEither(validateServiceCIDR, validateServiceCIDRUpdate),
		},
		Subresources: entry.StatusOf(entry.KeepMeta[*networkingv1.ServiceCIDR], nil),
		Table: entry.Listed([]entry.Column{entry.Text("CIDRs", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"])},
			func(c *networkingv1.ServiceCIDR) []any { return []any{strings.Join(c.Spec.CIDRs, ",")} }),
	}
}

func validateServiceCIDR(c *networkingv1.ServiceCIDR) (errs field.ErrorList) {
	at, cidrs := field.NewPath("spec", "cidrs"), c.Spec.CIDRs
	switch {
	case len(cidrs) == 0:
		return field.ErrorList{field.Required(at, "at least one CIDR required")}
	case len(cidrs) > 2:
		return field.ErrorList{field.Invalid(at, c.Spec, "may only hold up to 2 values")}
	}
	for i, value := range cidrs {
		errs = append(errs, utilvalidation.IsValidCIDR(at.Index(i), value)...)
	}
	if len(cidrs) == 2 {
		if family := netutils.IPFamilyOfCIDRString(cidrs[0]); family != netutils.IPFamilyUnknown &&
			family == netutils.IPFamilyOfCIDRString(cidrs[1]) {
			errs = append(errs, field.Invalid(at, cidrs,
				"may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
		}
	}
	return errs
}

// validateServiceCIDRUpdate allows only a second family to be added.
func validateServiceCIDRUpdate(c, old *networkingv1.ServiceCIDR) field.ErrorList {
	errs := validateServiceCIDR(c)
	at, now, was := field.NewPath("spec", "cidrs"), c.Spec.CIDRs, old.Spec.CIDRs
	switch {
	case len(now) == len(was):
		for i := range was {
			errs = append(errs, check.Immutable(now[i], was[i], at.Index(i))...)
		}
	case len(was) == 1 && len(now) == 2:
		errs = append(errs, check.Immutable(now[0], was[0], at.Index(0))...)
		errs = append(errs, validateServiceCIDR(c)...)
	default:
		errs = append(errs, check.Immutable(now, was, at)...)
	}
	return errs
}
