package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const ingressClassAnnotation = "kubernetes.io/ingress.class"

var pathTypes = []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix}

func ingress(in *networkingv1.Ingress) field.ErrorList {
	errs := ingressSpec(&in.Spec, false, false)
	class, annotated := in.Annotations[ingressClassAnnotation]
	if name := in.Spec.IngressClassName; annotated && name != nil && class != *name {
		errs = append(errs, field.Invalid(field.NewPath("annotations").Child(ingressClassAnnotation), class, "must match `ingressClassName` when both are specified"))
	}
	return errs
}

// ingressUpdate tolerates secrets' names and rules of wildcard hosts if the old ones were wrong.
func ingressUpdate(in, old *networkingv1.Ingress) field.ErrorList {
	oddSecret, oddWildcard := false, false
	for _, t := range old.Spec.TLS {
		oddSecret = oddSecret || len(className(&t.SecretName, nil)) > 0
	}
	for i := range old.Spec.Rules {
		r := &old.Spec.Rules[i]
		oddWildcard = oddWildcard || strings.Contains(r.Host, "*") && len(ingressPaths(r.HTTP, nil)) > 0
	}
	return ingressSpec(&in.Spec, oddSecret, oddWildcard)
}

func ingressSpec(s *networkingv1.IngressSpec, oddSecret, oddWildcard bool) (errs field.ErrorList) {
	at := field.NewPath("spec")
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Invalid(at, internal(s.Rules), "either `defaultBackend` or `rules` must be specified"))
	}
	if s.DefaultBackend != nil {
		errs = append(errs, ingressBackend(s.DefaultBackend, at.Child("defaultBackend"))...)
	}
	for i := range invalid.Each(s.Rules, &errs) {
		r, at := &s.Rules[i], at.Child("rules").Index(i)
		errs = append(errs, ingressHost(r.Host, at.Child("host"))...)
		if !oddWildcard || !strings.Contains(r.Host, "*") {
			errs = append(errs, ingressPaths(r.HTTP, at.Child("http"))...)
		}
	}
	for i, t := range invalid.Each(s.TLS, &errs) {
		at := at.Child("tls").Index(i)
		for j, host := range invalid.Each(t.Hosts, &errs) {
			errs = append(errs, judge(host, at.Child("hosts").Index(j), wildcardRule(host))...)
		}
		if !oddSecret {
			errs = append(errs, className(&t.SecretName, at.Child("secretName"))...)
		}
	}
	if s.IngressClassName != nil {
		errs = append(errs, judge(*s.IngressClassName, at.Child("ingressClassName"), whole(apivalidation.NameIsDNSSubdomain))...)
	}
	return errs
}

// wildcardRule is the rule for a host, which may begin with an asterisk.
func wildcardRule(host string) rule {
	if strings.Contains(host, "*") {
		return utilvalidation.IsWildcardDNS1123Subdomain
	}
	return utilvalidation.IsDNS1123Subdomain
}

func ingressHost(host string, at *field.Path) (errs field.ErrorList) {
	if host == "" {
		return nil
	}
	if netutils.ParseIPSloppy(host) != nil {
		errs = append(errs, field.Invalid(at, host, "must be a DNS name, not an IP address"))
	}
	return append(errs, judge(host, at, wildcardRule(host))...)
}

func ingressPaths(http *networkingv1.HTTPIngressRuleValue, at *field.Path) (errs field.ErrorList) {
	if http == nil {
		return nil
	}
	if len(http.Paths) == 0 {
		errs = append(errs, field.Required(at.Child("paths"), ""))
	}
	for i := range invalid.Each(http.Paths, &errs) {
		errs = append(errs, ingressPath(&http.Paths[i], at.Child("paths").Index(i))...)
	}
	return errs
}

func ingressPath(p *networkingv1.HTTPIngressPath, at *field.Path) (errs field.ErrorList) {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	path := at.Child("path")
	absolute := func() {
		if !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(path, p.Path, "must be an absolute path"))
		}
	}
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		absolute()
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, bad) {
				errs = append(errs, field.Invalid(path, p.Path, fmt.Sprintf("must not contain '%s'", bad)))
			}
		}
		for _, bad := range []string{"/..", "/."} {
			if strings.HasSuffix(p.Path, bad) {
				errs = append(errs, field.Invalid(path, p.Path, fmt.Sprintf("cannot end with '%s'", bad)))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" {
			absolute()
		}
	default:
		errs = append(errs, oneOf(*p.PathType, at.Child("pathType"), pathTypes)...)
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
	if b.Service.Name == "" {
		errs = append(errs, field.Required(service.Child("name"), ""))
	} else {
		errs = append(errs, judge(b.Service.Name, service.Child("name"), whole(apivalidation.NameIsDNSLabel))...)
	}
	switch {
	case port.Name != "" && port.Number != 0:
		errs = append(errs, field.Invalid(at, "", "cannot set both port name & port number"))
	case port.Name != "":
		errs = append(errs, judge(port.Name, service.Child("port", "name"), utilvalidation.IsValidPortName)...)
	case port.Number != 0:
		errs = append(errs, portNumber(port.Number, service.Child("port", "number"))...)
	default:
		errs = append(errs, field.Required(at, "port name or number is required"))
	}
	return errs
}

func typedReference(r *corev1.TypedLocalObjectReference, at *field.Path) (errs field.ErrorList) {
	if r.APIGroup != nil {
		errs = append(errs, subdomain(*r.APIGroup, at.Child("apiGroup"))...)
	}
	errs = append(errs, segment(r.Kind, at.Child("kind"))...)
	return append(errs, segment(r.Name, at.Child("name"))...)
}

// segment wants what can stand between two slashes of a path.
func segment(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return judge(value, at, content.IsPathSegmentName)
}

func ingressStatus(in, old *networkingv1.Ingress) (errs field.ErrorList) {
	var had []string
	for _, b := range old.Status.LoadBalancer.Ingress {
		if b.IP != "" {
			had = append(had, b.IP)
		}
	}
	for i, b := range invalid.Each(in.Status.LoadBalancer.Ingress, &errs) {
		at := field.NewPath("status", "loadBalancer").Child("ingress").Index(i)
		if b.IP != "" {
			errs = append(errs, ip(b.IP, at.Child("ip"), had)...)
		}
		errs = append(errs, balancerHost(b.Hostname, at.Child("hostname"))...)
	}
	return errs
}
