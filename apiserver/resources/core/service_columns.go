package core

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/printing"
)

func serviceColumns() []entry.Column {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return []entry.Column{
		printing.NameColumn,
		printing.Text("Type", spec["type"]),
		printing.Text("Cluster-IP", spec["clusterIP"]),
		printing.Text("External-IP", spec["externalIPs"]),
		printing.Text("Port(s)", spec["ports"]),
		printing.AgeColumn,
		printing.Wide(printing.Text("Selector", spec["selector"])),
	}
}

func serviceCells(s *corev1.Service, now time.Time) []any {
	clusterIP := printing.Or(s.Spec.ClusterIP, printing.None)
	if len(s.Spec.ClusterIPs) > 0 {
		clusterIP = s.Spec.ClusterIPs[0]
	}
	return []any{
		s.Name,
		string(s.Spec.Type),
		clusterIP,
		externalIP(s),
		printing.Or(shownPorts(s.Spec.Ports), printing.None),
		printing.AgeOf(&s.ObjectMeta, now),
		labels.FormatLabels(s.Spec.Selector),
	}
}

func externalIP(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return printing.Or(strings.Join(s.Spec.ExternalIPs, ","), printing.None)
	case corev1.ServiceTypeLoadBalancer:
		addresses := make([]string, 0, len(s.Status.LoadBalancer.Ingress))
		for _, in := range s.Status.LoadBalancer.Ingress {
			addresses = append(addresses, printing.Or(in.IP, in.Hostname))
		}
		return printing.Or(strings.Join(append(printing.Distinct(addresses), s.Spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return printing.Unknown
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
