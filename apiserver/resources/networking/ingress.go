package networking

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func ingresses() *entry.Resource {
	return &entry.Resource{
		Plural: "ingresses", New: entry.New[networkingv1.Ingress], Namespaced: true,
		ShortNames: []string{"ing"},
		Storage:    entry.Storage{Collection: "ingress"},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.DefaultEmptyLists[networkingv1.Ingress](),
			Validate:   entry.ValidateEither(validateIngress, validateIngressUpdate),
			Warnings:   entry.Warn(ingressWarnings),
		},
		Subresources: []entry.Subresource{entry.StatusWith(entry.Subresource{
			ValidateUpdate: entry.ValidateChange(validateIngressStatus),
			Warnings:       entry.Warn(ingressStatusWarnings),
		})},
		Table: ingressTable(),
	}
}

func ingressStatusWarnings(g, _ *networkingv1.Ingress) []string {
	var texts []string
	for i, in := range g.Status.LoadBalancer.Ingress {
		texts = append(texts, check.AddressWarnings(check.LoadBalancerIP.Index(i), in.IP)...)
	}
	return texts
}

// ingressWarnings returns warnings for new ingresses only.
func ingressWarnings(g, old *networkingv1.Ingress) []string {
	if _, ok := g.Annotations[ingressClassAnnotation]; !ok || old != nil || g.Spec.IngressClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf(
		"annotation %q is deprecated, please use 'spec.ingressClassName' instead", ingressClassAnnotation)}
}

const ingressClassAnnotation = "kubernetes.io/ingress.class"

var pathTypes = []networkingv1.PathType{
	networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix,
}

func validateIngress(in *networkingv1.Ingress) field.ErrorList {
	errs := ingressSpec(&in.Spec, false, false)
	class, annotated := in.Annotations[ingressClassAnnotation]
	if name := in.Spec.IngressClassName; annotated && name != nil && class != *name {
		errs = append(errs, field.Invalid(
			field.NewPath("annotations").Child(ingressClassAnnotation), class,
			"must match `ingressClassName` when both are specified",
		))
	}
	return errs
}

// validateIngressUpdate accepts invalid secret names and invalid rules of wildcard hosts if the old ones were invalid.
func validateIngressUpdate(in, old *networkingv1.Ingress) field.ErrorList {
	allowInvalidSecret, allowInvalidWildcard := false, false
	for _, t := range old.Spec.TLS {
		allowInvalidSecret = allowInvalidSecret || len(check.NonEmpty(t.SecretName, nil, check.DNSSubdomain)) > 0
	}
	for i := range old.Spec.Rules {
		r := &old.Spec.Rules[i]
		allowInvalidWildcard = allowInvalidWildcard || strings.Contains(r.Host, "*") &&
			len(check.Optional(r.HTTP, nil, ingressPaths)) > 0
	}
	return ingressSpec(&in.Spec, allowInvalidSecret, allowInvalidWildcard)
}

func ingressSpec(s *networkingv1.IngressSpec, allowInvalidSecret, allowInvalidWildcard bool) (errs field.ErrorList) {
	at := field.NewPath("spec")
	errs = append(errs, check.Reject(len(s.Rules) == 0 && s.DefaultBackend == nil, at, s.Rules,
		"either `defaultBackend` or `rules` must be specified")...)
	errs = append(errs, check.Optional(s.DefaultBackend, at.Child("defaultBackend"), ingressBackend)...)
	for i := range s.Rules {
		r, at := &s.Rules[i], at.Child("rules").Index(i)
		errs = append(errs, check.NonEmpty(r.Host, at.Child("host"), ingressHost)...)
		if !allowInvalidWildcard || !strings.Contains(r.Host, "*") {
			errs = append(errs, check.Optional(r.HTTP, at.Child("http"), ingressPaths)...)
		}
	}
	for i, t := range s.TLS {
		at := at.Child("tls").Index(i)
		for j, host := range t.Hosts {
			errs = append(errs, check.Apply(host, at.Child("hosts").Index(j), wildcardRule(host))...)
		}
		if !allowInvalidSecret {
			errs = append(errs, check.NonEmpty(t.SecretName, at.Child("secretName"), check.DNSSubdomain)...)
		}
	}
	return append(errs, check.Given(s.IngressClassName, at.Child("ingressClassName"), check.DNSSubdomain)...)
}

// wildcardRule returns the rule for a host that may begin with an asterisk.
func wildcardRule(host string) func(string) []string {
	if strings.Contains(host, "*") {
		return utilvalidation.IsWildcardDNS1123Subdomain
	}
	return utilvalidation.IsDNS1123Subdomain
}

func ingressHost(host string, at *field.Path) (errs field.ErrorList) {
	errs = check.Reject(netutils.ParseIPSloppy(host) != nil, at, host, "must be a DNS name, not an IP address")
	return append(errs, check.Apply(host, at, wildcardRule(host))...)
}

func ingressPaths(http *networkingv1.HTTPIngressRuleValue, at *field.Path) field.ErrorList {
	errs := check.Present(len(http.Paths) > 0, at.Child("paths"), "")
	return append(errs, check.Each(http.Paths, at.Child("paths"), ingressPath)...)
}

func ingressPath(p *networkingv1.HTTPIngressPath, at *field.Path) (errs field.ErrorList) {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	path := at.Child("path")
	absolute := func() {
		errs = append(errs, check.Reject(!strings.HasPrefix(p.Path, "/"), path, p.Path, "must be an absolute path")...)
	}
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		absolute()
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			errs = append(errs, check.Reject(strings.Contains(p.Path, bad), path, p.Path,
				fmt.Sprintf("must not contain '%s'", bad))...)
		}
		for _, bad := range []string{"/..", "/."} {
			errs = append(errs, check.Reject(strings.HasSuffix(p.Path, bad), path, p.Path,
				fmt.Sprintf("cannot end with '%s'", bad))...)
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" {
			absolute()
		}
	default:
		errs = append(errs, check.OneOf(*p.PathType, at.Child("pathType"), pathTypes)...)
	}
	return append(errs, ingressBackend(&p.Backend, at.Child("backend"))...)
}

func ingressBackend(b *networkingv1.IngressBackend, at *field.Path) (errs field.ErrorList) {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(at, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return typedReference(b.Resource, at.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(at, "", "resource or service backend is required")}
	}
	service, port := at.Child("service"), b.Service.Port
	errs = append(errs, check.Needed(b.Service.Name, service.Child("name"), check.DNSLabel)...)
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, field.Invalid(at, "", "cannot set both port name & port number"))
	case port.Name != "":
		errs = append(errs, check.Apply(port.Name, service.Child("port", "name"), utilvalidation.IsValidPortName)...)
	case port.Number != 0:
		errs = append(errs, check.PortNumber(port.Number, service.Child("port", "number"))...)
	default:
		errs = append(errs, field.Required(at, "port name or number is required"))
	}
	return errs
}

func typedReference(r *corev1.TypedLocalObjectReference, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Given(r.APIGroup, at.Child("apiGroup"), check.DNSSubdomain)...)
	errs = append(errs, check.Needed(r.Kind, at.Child("kind"), check.PathSegment)...)
	return append(errs, check.Needed(r.Name, at.Child("name"), check.PathSegment)...)
}

func validateIngressStatus(in, old *networkingv1.Ingress) (errs field.ErrorList) {
	var had []string
	for _, b := range old.Status.LoadBalancer.Ingress {
		if b.IP != "" {
			had = append(had, b.IP)
		}
	}
	for i, b := range in.Status.LoadBalancer.Ingress {
		at := field.NewPath("status", "loadBalancer").Child("ingress").Index(i)
		if b.IP != "" {
			errs = append(errs, check.IP(b.IP, at.Child("ip"), had)...)
		}
		errs = append(errs, check.BalancerHost(b.Hostname, at.Child("hostname"))...)
	}
	return errs
}

func ingressTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
		entry.Text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
		entry.Text("Address", "Address is a list containing ingress points for the load-balancer"),
		entry.Text("Ports", "Ports of TLS configurations that open"),
	}, func(i *networkingv1.Ingress) []any {
		addresses := make([]string, 0, len(i.Status.LoadBalancer.Ingress))
		for _, in := range i.Status.LoadBalancer.Ingress {
			addresses = append(addresses, entry.StringOr(in.IP, in.Hostname))
		}
		ports := "80"
		if len(i.Spec.TLS) > 0 {
			ports = "80, 443"
		}
		return []any{
			entry.ValueOr(i.Spec.IngressClassName, entry.None),
			ingressHosts(i.Spec.Rules),
			strings.Join(entry.Distinct(addresses), ","),
			ports,
		}
	})
}

// ingressHosts returns the first three hosts, and the number of further ones, which includes rules without a host
// (formatHosts).
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
	return entry.StringOr(strings.Join(hosts, ","), "*")
}
