package validation

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var policyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}

// policyTolerance is what an update accepts because the old policy had it already.
type policyTolerance struct {
	selectors metav1validation.LabelSelectorValidationOptions
	cidrs     []string
}

func networkPolicy(p *networkingv1.NetworkPolicy) field.ErrorList {
	return networkPolicySpec(&p.Spec, policyTolerance{})
}

func networkPolicyUpdate(p, old *networkingv1.NetworkPolicy) field.ErrorList {
	var t policyTolerance
	t.selectors.AllowInvalidLabelValueInSelector = len(invalid.Selector(&old.Spec.PodSelector, t.selectors, nil)) > 0
	had := func(peers []networkingv1.NetworkPolicyPeer) {
		for _, peer := range peers {
			if b := peer.IPBlock; b != nil {
				t.cidrs = append(append(t.cidrs, b.CIDR), b.Except...)
			}
		}
	}
	for _, r := range old.Spec.Ingress {
		had(r.From)
	}
	for _, r := range old.Spec.Egress {
		had(r.To)
	}
	return networkPolicySpec(&p.Spec, t)
}

func networkPolicySpec(s *networkingv1.NetworkPolicySpec, t policyTolerance) field.ErrorList {
	at := field.NewPath("spec")
	errs := invalid.Selector(&s.PodSelector, t.selectors, at.Child("podSelector"))
	for i, r := range invalid.Each(s.Ingress, &errs) {
		errs = append(errs, policyRuleOf(r.Ports, r.From, "from", t, at.Child("ingress").Index(i))...)
	}
	for i, r := range invalid.Each(s.Egress, &errs) {
		errs = append(errs, policyRuleOf(r.Ports, r.To, "to", t, at.Child("egress").Index(i))...)
	}
	types := at.Child("policyTypes")
	if len(s.PolicyTypes) > len(policyTypes) {
		return append(errs, field.Invalid(types, s.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i, kind := range invalid.Each(s.PolicyTypes, &errs) {
		errs = append(errs, oneOf(kind, types.Index(i), policyTypes)...)
	}
	return errs
}

func policyRuleOf(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, direction string, t policyTolerance, at *field.Path) (errs field.ErrorList) {
	for i := range invalid.Each(ports, &errs) {
		errs = append(errs, policyPort(&ports[i], at.Child("ports").Index(i))...)
	}
	for i := range invalid.Each(peers, &errs) {
		errs = append(errs, policyPeer(&peers[i], t, at.Child(direction).Index(i))...)
	}
	return errs
}

func policyPort(p *networkingv1.NetworkPolicyPort, at *field.Path) (errs field.ErrorList) {
	if p.Protocol != nil {
		errs = append(errs, oneOf(*p.Protocol, at.Child("protocol"), []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})...)
	}
	port, end := at.Child("port"), at.Child("endPort")
	switch {
	case p.Port == nil:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is not specified"))
		}
	case p.Port.Type == intstr.Int:
		errs = append(errs, portNumber(p.Port.IntVal, port)...)
		if p.EndPort != nil {
			if *p.EndPort < p.Port.IntVal {
				errs = append(errs, field.Invalid(end, p.Port.IntVal, "must be greater than or equal to `port`"))
			}
			errs = append(errs, portNumber(*p.EndPort, end)...)
		}
	default:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is non-numeric"))
		}
		errs = append(errs, judge(p.Port.StrVal, port, utilvalidation.IsValidPortName)...)
	}
	return errs
}

func policyPeer(p *networkingv1.NetworkPolicyPeer, t policyTolerance, at *field.Path) (errs field.ErrorList) {
	peers := 0
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"podSelector", p.PodSelector}, {"namespaceSelector", p.NamespaceSelector}} {
		if s.selector != nil {
			peers++
			errs = append(errs, invalid.Selector(s.selector, t.selectors, at.Child(s.name))...)
		}
	}
	switch {
	case p.IPBlock != nil:
		errs = append(errs, ipBlock(p.IPBlock, t, at.Child("ipBlock"))...)
		if peers > 0 {
			errs = append(errs, field.Forbidden(at, "may not specify both ipBlock and another peer"))
		}
	case peers == 0:
		errs = append(errs, field.Required(at, "must specify a peer"))
	}
	return errs
}

func ipBlock(b *networkingv1.IPBlock, t policyTolerance, at *field.Path) field.ErrorList {
	if b.CIDR == "" {
		return field.ErrorList{field.Required(at.Child("cidr"), "")}
	}
	errs := cidr(b.CIDR, at.Child("cidr"), t.cidrs)
	_, block, err := netutils.ParseCIDRSloppy(b.CIDR)
	if err != nil {
		return errs
	}
	for i, value := range invalid.Each(b.Except, &errs) {
		at := at.Child("except").Index(i)
		errs = append(errs, cidr(value, at, t.cidrs)...)
		_, hole, err := netutils.ParseCIDRSloppy(value)
		if err != nil {
			continue
		}
		outer, _ := block.Mask.Size()
		if inner, _ := hole.Mask.Size(); !block.Contains(hole.IP) || outer >= inner {
			errs = append(errs, field.Invalid(at, value, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}
