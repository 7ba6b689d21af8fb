package printers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func serviceColumns() []Column {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Type", spec["type"]),
		text("Cluster-IP", spec["clusterIP"]),
		text("External-IP", spec["externalIPs"]),
		text("Port(s)", spec["ports"]),
		ageColumn,
		wide(text("Selector", spec["selector"])),
	}
}

func serviceCells(s *corev1.Service, now time.Time) []any {
	clusterIP := or(s.Spec.ClusterIP, none)
	if len(s.Spec.ClusterIPs) > 0 {
		clusterIP = s.Spec.ClusterIPs[0]
	}
	return []any{
		s.Name,
		string(s.Spec.Type),
		clusterIP,
		externalIP(s),
		or(servicePorts(s.Spec.Ports), none),
		age(&s.ObjectMeta, now),
		labels.FormatLabels(s.Spec.Selector),
	}
}

func externalIP(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return or(strings.Join(s.Spec.ExternalIPs, ","), none)
	case corev1.ServiceTypeLoadBalancer:
		addresses := make([]string, 0, len(s.Status.LoadBalancer.Ingress))
		for _, in := range s.Status.LoadBalancer.Ingress {
			addresses = append(addresses, or(in.IP, in.Hostname))
		}
		return or(strings.Join(append(distinct(addresses), s.Spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return unknown
}

// distinct sorts addresses and drops empty and repeated ones.
func distinct(addresses []string) []string {
	addresses = slices.DeleteFunc(addresses, func(a string) bool { return a == "" })
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

func servicePorts(ports []corev1.ServicePort) string {
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
