package printers

import (
	"fmt"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ingressColumns() []Column {
	return []Column{
		nameColumn,
		text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
		text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
		text("Address", "Address is a list containing ingress points for the load-balancer"),
		text("Ports", "Ports of TLS configurations that open"),
		ageColumn,
	}
}

func ingressCells(i *networkingv1.Ingress, now time.Time) []any {
	addresses := make([]string, 0, len(i.Status.LoadBalancer.Ingress))
	for _, in := range i.Status.LoadBalancer.Ingress {
		addresses = append(addresses, or(in.IP, in.Hostname))
	}
	ports := "80"
	if len(i.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{
		i.Name,
		value(i.Spec.IngressClassName, none),
		ingressHosts(i.Spec.Rules),
		strings.Join(distinct(addresses), ","),
		ports,
		age(&i.ObjectMeta, now),
	}
}

// ingressHosts shows three hosts. What is left out is counted in rules, also in those without a
// host (formatHosts).
func ingressHosts(rules []networkingv1.IngressRule) string {
	const most = 3
	var hosts []string
	for _, r := range rules {
		if len(hosts) == most {
			return fmt.Sprintf("%s + %d more...", strings.Join(hosts, ","), len(rules)-most)
		}
		if r.Host != "" {
			hosts = append(hosts, r.Host)
		}
	}
	return or(strings.Join(hosts, ","), "*")
}

func ingressClassColumns() []Column {
	return []Column{
		nameColumn,
		text("Controller", "Controller that is responsible for handling this class"),
		text("Parameters", "A reference to a resource with additional parameters"),
		ageColumn,
	}
}

func ingressClassCells(c *networkingv1.IngressClass, now time.Time) []any {
	name := c.Name
	if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += " (default)"
	}
	parameters := none
	if p := c.Spec.Parameters; p != nil {
		parameters = p.Kind
		if p.APIGroup != nil {
			parameters += "." + *p.APIGroup
		}
		parameters += "/" + p.Name
	}
	return []any{name, c.Spec.Controller, parameters, age(&c.ObjectMeta, now)}
}

func ipAddressColumns() []Column {
	return []Column{nameColumn, text("ParentRef", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"])}
}

// ipAddressCells returns an age that no column heads, as upstream's printIPAddress; kubectl skips it.
func ipAddressCells(a *networkingv1.IPAddress, now time.Time) []any {
	parent := none
	if ref := a.Spec.ParentRef; ref != nil {
		gr := schema.GroupResource{Group: ref.Group, Resource: ref.Resource}
		parent = strings.ToLower(gr.String())
		if ref.Namespace != "" {
			parent += "/" + ref.Namespace
		}
		parent += "/" + ref.Name
	}
	return []any{a.Name, parent, age(&a.ObjectMeta, now)}
}

func networkPolicyColumns() []Column {
	return []Column{
		nameColumn,
		text("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]),
		ageColumn,
	}
}

func networkPolicyCells(p *networkingv1.NetworkPolicy, now time.Time) []any {
	return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), age(&p.ObjectMeta, now)}
}

func serviceCIDRColumns() []Column {
	return []Column{nameColumn, text("CIDRs", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"]), ageColumn}
}

func serviceCIDRCells(c *networkingv1.ServiceCIDR, now time.Time) []any {
	return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), age(&c.ObjectMeta, now)}
}
