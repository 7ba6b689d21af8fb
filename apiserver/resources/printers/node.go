package printers

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// nodeRolePrefix begins labels whose key ends in a role.
	nodeRolePrefix = "node-role.kubernetes.io/"
	// nodeRoleLabel is the older label with a role as its value.
	nodeRoleLabel = "kubernetes.io/role"
)

func nodeColumns() []Column {
	status, info := corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Status", "The status of the node"),
		text("Roles", "The roles of the node"),
		ageColumn,
		text("Version", info["kubeletVersion"]),
		wide(text("Internal-IP", status["addresses"])),
		wide(text("External-IP", status["addresses"])),
		wide(text("OS-Image", info["osImage"])),
		wide(text("Kernel-Version", info["kernelVersion"])),
		wide(text("Container-Runtime", info["containerRuntimeVersion"])),
	}
}

func nodeCells(n *corev1.Node, now time.Time) []any {
	info := &n.Status.NodeInfo
	kernel := or(info.KernelVersion, unknown)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		n.Name,
		nodeStatus(n),
		or(strings.Join(nodeRoles(n), ","), none),
		age(&n.ObjectMeta, now),
		info.KubeletVersion,
		nodeAddress(n, corev1.NodeInternalIP),
		nodeAddress(n, corev1.NodeExternalIP),
		or(info.OSImage, unknown),
		kernel,
		or(info.ContainerRuntimeVersion, unknown),
	}
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		status = "NotReady"
		if c.Status == corev1.ConditionTrue {
			status = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) []string {
	var roles []string
	for key, v := range n.Labels {
		if role, ok := strings.CutPrefix(key, nodeRolePrefix); ok && role != "" {
			roles = append(roles, role)
		} else if key == nodeRoleLabel && v != "" {
			roles = append(roles, v)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

func nodeAddress(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return none
}
