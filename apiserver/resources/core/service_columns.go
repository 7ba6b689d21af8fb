package core

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func serviceColumns() []entry.Column {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Type", spec["type"]),
		entry.Text("Cluster-IP", spec["clusterIP"]),
		entry.Text("External-IP", spec["externalIPs"]),
		entry.Text("Port(s)", spec["ports"]),
		entry.AgeColumn,
		entry.Wide(entry.Text("Selector", spec["selector"])),
	}
}

func serviceCells(s *corev1.Service, now time.Time) []any {
	clusterIP := entry.StringOr(s.Spec.ClusterIP, entry.None)
	if len(s.Spec.ClusterIPs) > 0 {
		clusterIP = s.Spec.ClusterIPs[0]
	}
	return []any{
		s.Name,
		string(s.Spec.Type),
		clusterIP,
		externalIP(s),
		entry.StringOr(shownPorts(s.Spec.Ports), entry.None),
		entry.AgeOf(&s.ObjectMeta, now),
		labels.FormatLabels(s.Spec.Selector),
	}
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
