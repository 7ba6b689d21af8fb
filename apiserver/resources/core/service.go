package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func services() *entry.Resource {
	return &entry.Resource{
		Plural: "services", New: entry.New[corev1.Service], Namespaced: true,
		ShortNames: []string{"svc"}, Categories: entry.All,
		Storage: entry.Storage{Collection: "services/specs"},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Name:           apivalidation.NameIsDNSLabel,
			Default:        entry.Default(DefaultService),
			Prepare:        entry.Change(prepareService),
			Validate:       entry.ValidateEither(validateServiceCreate, validateServiceUpdate),
			Warnings:       entry.Warn(serviceWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Hooks:  entry.Hooks{Begin: beginService},
		Subresources: []entry.Subresource{
			{
				Name: "proxy", Verbs: entry.Tunnel, Action: entry.Proxied, Connect: proxyService,
				Kind: corev1.SchemeGroupVersion.WithKind("ServiceProxyOptions"),
			},
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateServiceStatus),
				Warnings:       entry.Warn(serviceStatusWarnings),
			}),
		},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "spec.clusterIP"}, {Label: "spec.type", Unset: "ClusterIP"}},
		},
		Table: serviceTable(),
	}
}

// DefaultService sets the defaults of a service's type, ports, affinity and policies. It sets no allocated field.
func DefaultService(s *corev1.Service) {
	check.FillDefault(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	switch s.Spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		s.Spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		affinity(&s.Spec)
	}
	check.FillDefault(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		check.FillDefault(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if servesExternally(&s.Spec) {
		check.FillDefault(&s.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	switch s.Spec.Type {
	case corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeClusterIP:
		check.SetDefault(&s.Spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		check.SetDefault(&s.Spec.AllocateLoadBalancerNodePorts, true)
		for i := range s.Status.LoadBalancer.Ingress {
			if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" {
				check.SetDefault(&in.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
}

// affinity sets the default timeout of a session affinity configuration that has none.
func affinity(s *corev1.ServiceSpec) {
	c := s.SessionAffinityConfig
	if c != nil && c.ClientIP != nil && c.ClientIP.TimeoutSeconds != nil {
		return
	}
	seconds := corev1.DefaultClientIPServiceAffinitySeconds
	s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
}

func serviceTable() entry.Table {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Type", spec["type"]),
		entry.Text("Cluster-IP", spec["clusterIP"]),
		entry.Text("External-IP", spec["externalIPs"]),
		entry.Text("Port(s)", spec["ports"]),
		entry.Wide(entry.Text("Selector", spec["selector"])),
	}, func(s *corev1.Service) []any {
		clusterIP := entry.StringOr(s.Spec.ClusterIP, entry.None)
		if len(s.Spec.ClusterIPs) > 0 {
			clusterIP = s.Spec.ClusterIPs[0]
		}
		return []any{
			string(s.Spec.Type),
			clusterIP,
			externalIP(s),
			entry.StringOr(shownPorts(s.Spec.Ports), entry.None),
			labels.FormatLabels(s.Spec.Selector),
		}
	})
}

func externalIP(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return entry.StringOr(strings.Join(s.Spec.ExternalIPs, ","), entry.None)
	case corev1.ServiceTypeLoadBalancer:
		addresses := make([]string, 0, len(s.Status.LoadBalancer.Ingress))
		for _, in := range s.Status.LoadBalancer.Ingress {
			addresses = append(addresses, entry.StringOr(in.IP, in.Hostname))
		}
		return entry.StringOr(strings.Join(append(entry.Distinct(addresses), s.Spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return entry.Unknown
}

func shownPorts(ports []corev1.ServicePort) string {
	all := make([]string, 0, len(ports))
	for _, p := range ports {
		if p.NodePort > 0 {
			all = append(all, fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol))
		} else {
			all = append(all, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
		}
	}
	return strings.Join(all, ",")
}
