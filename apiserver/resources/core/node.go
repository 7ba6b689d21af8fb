package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// Not validated in nodes: the annotations for taints and for the preference to avoid pods, which have no effect since
// 1.6; spec.configSource and status.config, which kubelets ignore; status.declaredFeatures.

func nodes() *entry.Resource {
	return &entry.Resource{
		Plural: "nodes", New: entry.New[corev1.Node],
		ShortNames: []string{"no"},
		Storage:    entry.Storage{Collection: "minions"},
		Strategy: entry.Strategy{
			Default:   entry.Default(defaultNode),
			OwnStatus: true,
			Prepare:   entry.Change(prepareNode),
			Validate:  entry.ValidateEither(validateNode, validateNodeUpdate),
			Warnings:  entry.Warn(nodeWarnings),
		},
		Subresources: []entry.Subresource{
			{
				Name: "proxy", Verbs: entry.Tunnel, Action: entry.Proxied, Connect: proxyNode,
				Kind: corev1.SchemeGroupVersion.WithKind("NodeProxyOptions"),
			},
			entry.StatusSubresource(dropNodeFields, validateNodeStatus),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "spec.unschedulable", Unset: "false"}}},
		Table:     nodeTable(),
	}
}

// ranges makes podCIDR and podCIDRs of a node consistent.
func ranges(s *corev1.NodeSpec) {
	if s.PodCIDR != "" && (len(s.PodCIDRs) == 0 || s.PodCIDRs[0] != s.PodCIDR) {
		s.PodCIDRs = []string{s.PodCIDR}
	}
	if len(s.PodCIDRs) > 0 {
		s.PodCIDR = s.PodCIDRs[0]
	}
}

// defaultNode sets the allocatable resources to the node's capacity.
func defaultNode(n *corev1.Node) {
	if n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
	ranges(&n.Spec)
	check.Round(n.Status.Capacity)
	check.Round(n.Status.Allocatable)
}

// prepareNode restores the status on update. Nodes may set their own status when they are created.
func prepareNode(n, old *corev1.Node) {
	if old != nil {
		n.Status = old.Status
	}
	dropNodeFields(n, old)
}

// dropNodeFields removes the dynamic configuration, which is not supported any more, and the field of the gate
// InPlacePodVerticalScalingSchedulerPreemption, which is off (V-023).
var dropNodeFields = check.Gates(
	check.Gate[corev1.Node](check.FieldsOf[corev1.NodeSpec]("ConfigSource")),
	check.Gate[corev1.Node](check.FieldsOf[corev1.NodeStatus]("Config")),
	check.Gate[corev1.Node](check.FieldsOf[corev1.NodeSpec]("PodPreemptionPolicy")))

func nodeWarnings(n, _ *corev1.Node) []string {
	var texts []string
	if n.Spec.ConfigSource != nil {
		texts = append(texts, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		texts = append(texts, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	return texts
}

func validateNode(n *corev1.Node) field.ErrorList {
	errs := taints(n.Spec.Taints, field.NewPath("metadata", "taints"))
	errs = append(errs, nodeResources(n)...)
	return append(errs, podCIDRs(n.Spec.PodCIDRs, field.NewPath("spec", "podCIDRs"))...)
}

// validateNodeUpdate validates the new node and then its change. As in upstream, some errors are returned twice.
func validateNodeUpdate(n, old *corev1.Node) field.ErrorList {
	return append(validateNode(n), validateNodeStatus(n, old)...)
}

// validateNodeStatus validates the spec and the status, as core ValidateNodeUpdate does in every write.
func validateNodeStatus(n, old *corev1.Node) field.ErrorList {
	spec := field.NewPath("spec")
	errs := nodeResources(n)
	errs = append(errs, check.All(n.Status.Addresses, check.StatusPath.Child("addresses"),
		check.Unique[corev1.NodeAddress]{}.Add)...)
	const keep = "node updates may not change podCIDR except from \"\" to valid"
	now, was := n.Spec.PodCIDRs, old.Spec.PodCIDRs
	if len(was) > 0 && len(was) != len(now) {
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), keep))
	} else {
		for i := range was {
			errs = append(errs, check.Forbid(was[i] != now[i], spec.Child("podCIDRs"), keep)...)
		}
	}
	errs = append(errs, check.Forbid(old.Spec.ProviderID != "" && old.Spec.ProviderID != n.Spec.ProviderID,
		spec.Child("providerID"), "node updates may not change providerID except from \"\" to valid")...)
	errs = append(errs, taints(n.Spec.Taints, field.NewPath("metadata", "taints"))...)
	return append(errs, check.Forbid(n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID, spec.Child("externalID"),
		"may not be updated")...)
}

func nodeResources(n *corev1.Node) (errs field.ErrorList) {
	amounts := func(list corev1.ResourceList, at *field.Path) {
		for _, name := range check.Sorted(list) {
			errs = append(errs, check.ResourceQuantity(name, list[name], at.Child(string(name)))...)
		}
	}
	amounts(n.Status.Capacity, check.StatusPath.Child("capacity"))
	amounts(n.Status.Allocatable, check.StatusPath.Child("allocatable"))
	return errs
}

func podCIDRs(cidrs []string, at *field.Path) (errs field.ErrorList) {
	for i, value := range cidrs {
		errs = append(errs, check.CIDR(value, at.Index(i), nil)...)
	}
	if len(cidrs) < 2 {
		return errs
	}
	dual, err := netutils.IsDualStackCIDRStrings(cidrs)
	if err != nil {
		errs = append(errs, field.InternalError(at,
			fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	errs = append(errs, check.Reject(!dual || len(cidrs) > 2, at, cidrs,
		"may specify no more than one CIDR for each IP family")...)
	return append(errs, check.All(cidrs, at, check.Unique[string]{}.Add)...)
}

// taints validates each taint and rejects duplicates of key and effect.
func taints(list []corev1.Taint, at *field.Path) (errs field.ErrorList) {
	type key struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[key]bool{}
	for i, t := range list {
		at := at.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		texts := utilvalidation.IsValidLabelValue(t.Value)
		errs = append(errs, check.Reject(len(texts) > 0, at.Child("value"), t.Value, strings.Join(texts, ";"))...)
		errs = append(errs, check.Required(t.Effect, at.Child("effect"), podspec.TaintEffects)...)
		k := key{t.Key, t.Effect}
		if seen[k] {
			twice := field.Duplicate(at, t)
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[k] = true
	}
	return errs
}

const (
	// nodeRolePrefix is the prefix of labels whose key ends with a role.
	nodeRolePrefix = "node-role.kubernetes.io/"
	// nodeRoleLabel is the older label with a role as its value.
	nodeRoleLabel = "kubernetes.io/role"
)

func nodeTable() entry.Table {
	status, info := corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()
	return entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.Text("Status", "The status of the node"),
		entry.Text("Roles", "The roles of the node"),
		entry.AgeColumn,
		entry.Text("Version", info["kubeletVersion"]),
		entry.Wide(entry.Text("Internal-IP", status["addresses"])),
		entry.Wide(entry.Text("External-IP", status["addresses"])),
		entry.Wide(entry.Text("OS-Image", info["osImage"])),
		entry.Wide(entry.Text("Kernel-Version", info["kernelVersion"])),
		entry.Wide(entry.Text("Container-Runtime", info["containerRuntimeVersion"])),
	}, func(n *corev1.Node) []any {
		info := &n.Status.NodeInfo
		kernel := entry.StringOr(info.KernelVersion, entry.Unknown)
		if info.Architecture != "" {
			kernel += " (" + info.Architecture + ")"
		}
		return []any{
			nodeStatus(n),
			entry.StringOr(strings.Join(nodeRoles(n), ","), entry.None),
			info.KubeletVersion,
			nodeAddress(n, corev1.NodeInternalIP),
			nodeAddress(n, corev1.NodeExternalIP),
			entry.StringOr(info.OSImage, entry.Unknown),
			kernel,
			entry.StringOr(info.ContainerRuntimeVersion, entry.Unknown),
		}
	})
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
	return entry.None
}
