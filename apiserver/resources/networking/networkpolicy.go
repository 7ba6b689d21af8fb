package networking

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func networkPolicies() *entry.Resource {
	return &entry.Resource{
		Plural: "networkpolicies", New: entry.New[networkingv1.NetworkPolicy], Namespaced: true,
		ShortNames: []string{"netpol"},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultNetworkPolicy),
			Validate:   entry.ValidateChange(validateNetworkPolicy),
			Warnings:   entry.Warn(networkPolicyWarnings),
		},
		Table: entry.Listed(
			[]entry.Column{entry.Text("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"])},
			func(p *networkingv1.NetworkPolicy) []any {
				return []any{metav1.FormatLabelSelector(&p.Spec.PodSelector)}
			}),
	}
}

// defaultNetworkPolicy sets the type Ingress, and Egress if the policy has rules for it.
func defaultNetworkPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for i := range p.Spec.Ingress {
		policyPorts(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		policyPorts(p.Spec.Egress[i].Ports)
	}
}

func policyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		check.SetDefault(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

func networkPolicyWarnings(p, _ *networkingv1.NetworkPolicy) (texts []string) {
	eachBlock(&p.Spec, func(b *networkingv1.IPBlock, at *field.Path) {
		texts = append(texts, check.RangeWarnings(at.Child("cidr"), b.CIDR)...)
		for i, except := range b.Except {
			texts = append(texts, check.RangeWarnings(at.Child("except").Index(i), except)...)
		}
	})
	return texts
}

var policyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}

// policyTolerance has the kinds of invalid values that an update may keep.
type policyTolerance struct {
	selectors metav1validation.LabelSelectorValidationOptions
	cidrs     []string
}

func policyToleranceOf(old *networkingv1.NetworkPolicy) (t policyTolerance) {
	if old == nil {
		return t
	}
	errs := metav1validation.ValidateLabelSelector(&old.Spec.PodSelector, t.selectors, nil)
	t.selectors.AllowInvalidLabelValueInSelector = len(errs) > 0
	eachBlock(&old.Spec, func(b *networkingv1.IPBlock, _ *field.Path) {
		t.cidrs = append(append(t.cidrs, b.CIDR), b.Except...)
	})
	return t
}

// eachBlock visits the blocks of addresses in the peers of all rules.
func eachBlock(s *networkingv1.NetworkPolicySpec, visit func(*networkingv1.IPBlock, *field.Path)) {
	peers := func(at *field.Path, list []networkingv1.NetworkPolicyPeer) {
		for i := range list {
			if b := list[i].IPBlock; b != nil {
				visit(b, at.Index(i).Child("ipBlock"))
			}
		}
	}
	for i := range s.Ingress {
		peers(check.SpecPath.Child("ingress").Index(i).Child("from"), s.Ingress[i].From)
	}
	for i := range s.Egress {
		peers(check.SpecPath.Child("egress").Index(i).Child("to"), s.Egress[i].To)
	}
}

func validateNetworkPolicy(p, old *networkingv1.NetworkPolicy) field.ErrorList {
	s, t := &p.Spec, policyToleranceOf(old)
	at := field.NewPath("spec")
	errs := metav1validation.ValidateLabelSelector(&s.PodSelector, t.selectors, at.Child("podSelector"))
	for i, r := range s.Ingress {
		errs = append(errs, policyRuleOf(r.Ports, r.From, "from", t, at.Child("ingress").Index(i))...)
	}
	for i, r := range s.Egress {
		errs = append(errs, policyRuleOf(r.Ports, r.To, "to", t, at.Child("egress").Index(i))...)
	}
	types := at.Child("policyTypes")
	if len(s.PolicyTypes) > len(policyTypes) {
		return append(errs, field.Invalid(types, s.PolicyTypes, "may not specify more than two policyTypes"))
	}
	return append(errs, check.All(s.PolicyTypes, types, check.Among(policyTypes...))...)
}

func policyRuleOf(
	ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, direction string, t policyTolerance,
	at *field.Path,
) (errs field.ErrorList) {
	errs = append(errs, check.Each(ports, at.Child("ports"), policyPort)...)
	for i := range peers {
		errs = append(errs, policyPeer(&peers[i], t, at.Child(direction).Index(i))...)
	}
	return errs
}

func policyPort(p *networkingv1.NetworkPolicyPort, at *field.Path) (errs field.ErrorList) {
	errs = check.GivenOneOf(p.Protocol, at.Child("protocol"), []corev1.Protocol{
		corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})
	port, end := at.Child("port"), at.Child("endPort")
	switch {
	case p.Port == nil:
		errs = append(errs, check.Reject(p.EndPort != nil, end, p.EndPort,
			"may not be specified when `port` is not specified")...)
	case p.Port.Type == intstr.Int:
		errs = append(errs, check.PortNumber(p.Port.IntVal, port)...)
		if p.EndPort != nil {
			errs = append(errs, check.Reject(*p.EndPort < p.Port.IntVal, end, *p.EndPort,
				"must be greater than or equal to `port`")...)
			errs = append(errs, check.PortNumber(*p.EndPort, end)...)
		}
	default:
		errs = append(errs, check.Reject(p.EndPort != nil, end, p.EndPort,
			"may not be specified when `port` is non-numeric")...)
		errs = append(errs, check.Apply(p.Port.StrVal, port, utilvalidation.IsValidPortName)...)
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
			errs = append(errs, metav1validation.ValidateLabelSelector(s.selector, t.selectors, at.Child(s.name))...)
		}
	}
	switch {
	case p.IPBlock != nil:
		errs = append(errs, ipBlock(p.IPBlock, t, at.Child("ipBlock"))...)
		errs = append(errs, check.Forbid(peers > 0, at, "may not specify both ipBlock and another peer")...)
	case peers == 0:
		errs = append(errs, field.Required(at, "must specify a peer"))
	}
	return errs
}

func ipBlock(b *networkingv1.IPBlock, t policyTolerance, at *field.Path) field.ErrorList {
	if b.CIDR == "" {
		return nil
	}
	errs := check.CIDR(b.CIDR, at.Child("cidr"), t.cidrs)
	_, block, err := netutils.ParseCIDRSloppy(b.CIDR)
	if err != nil {
		return errs
	}
	for i, value := range b.Except {
		at := at.Child("except").Index(i)
		errs = append(errs, check.CIDR(value, at, t.cidrs)...)
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
