package simulation

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// NodeName is the node that exists unless Options.Nodes has others.
const NodeName = "simulated"

// hostIP is the address of NodeName. It is outside the default ranges of services and pods.
const hostIP = "10.128.0.1"

// kubelets simulates the kubelets of all nodes.
type kubelets struct {
	version string
	// alone reports whether NodeName is created.
	alone bool
}

// Node maintains the nodes. version is the kubelets', such as "v1.37.2".
func Node(version string, o Options) workload.Controller {
	c := workload.Controller{
		Name: "kubelet", For: workload.Nodes, Decide: kubelets{version: version, alone: len(o.Nodes) == 0}.node,
	}
	if len(o.Nodes) == 0 {
		c.Start = workload.StartWith(workload.Key{Name: NodeName})
	}
	return c
}

// node creates NodeName, and sets the status of every node.
func (k kubelets) node(v workload.View, now time.Time) workload.Plan {
	if v.Object == nil {
		if !k.alone || v.Key.Name != NodeName {
			return workload.Plan{}
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName}}
		label(n)
		return workload.Plan{Do: []workload.Action{workload.Create{Object: n}}}
	}
	n := v.Object.(*corev1.Node)
	if !simulated(n) {
		return workload.Plan{}
	}
	had := n
	n = n.DeepCopy()
	if label(n) {
		return workload.Plan{Do: []workload.Action{workload.Update{Object: n}}} // the next pass sets its status
	}
	events := diagnose(n, metav1.NewTime(now))
	if ready(had) >= 0 && events == nil {
		return workload.Plan{}
	}
	equip(n)
	if n.Status.NodeInfo.KubeletVersion == "" {
		id := string(n.UID)
		n.Status.NodeInfo = corev1.NodeSystemInfo{
			MachineID: strings.ReplaceAll(id, "-", ""), SystemUUID: id, BootID: id,
			KubeletVersion: k.version, OperatingSystem: "linux", Architecture: "amd64",
			ContainerRuntimeVersion: "simulated://1", OSImage: "simulated", KernelVersion: "simulated",
		}
	}
	if len(n.Status.Addresses) == 0 {
		n.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: address(n.Name)}, {Type: corev1.NodeHostName, Address: n.Name},
		}
	}
	return workload.Plan{Status: n, Events: events}
}

// simulated reports whether no client has set the node's condition Ready.
func simulated(n *corev1.Node) bool {
	i := ready(n)
	return i < 0 || n.Status.Conditions[i].Message == readyMessage || n.Status.Conditions[i].Message == offMessage
}

// label adds the labels that a kubelet sets on its node, even on an existing one, and reports whether any was missing
// (K pkg/kubelet/kubelet_node_status.go: initialNode, updateDefaultLabels). Labels of clients are kept.
func label(n *corev1.Node) (added bool) {
	for key, value := range map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
	} {
		if _, ok := n.Labels[key]; !ok {
			metav1.SetMetaDataLabel(&n.ObjectMeta, key, value)
			added = true
		}
	}
	return added
}

// equip adds the resources that every node has. A node without resources gets large amounts; one that declares some
// gets the number of pods that kubelets allow (K pkg/kubelet/apis/config/v1beta1/defaults.go: MaxPods).
func equip(n *corev1.Node) {
	pods := "1M"
	if len(n.Status.Capacity) > 0 {
		pods = "110"
	}
	for name, q := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: "1k", corev1.ResourceMemory: "1Ti", corev1.ResourceEphemeralStorage: "1Ti",
		corev1.ResourcePods: pods,
	} {
		if _, ok := n.Status.Capacity[name]; ok {
			continue
		}
		if n.Status.Capacity == nil {
			n.Status.Capacity = corev1.ResourceList{}
		}
		n.Status.Capacity[name] = resource.MustParse(q)
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = corev1.ResourceList{}
	}
	for name, q := range n.Status.Capacity {
		if _, ok := n.Status.Allocatable[name]; !ok {
			n.Status.Allocatable[name] = q.DeepCopy()
		}
	}
}

// address returns the address of a node. Two nodes other than NodeName may have the same address, which is unlikely.
func address(node string) string {
	if node == NodeName {
		return hostIP
	}
	n := hash(node)
	return fmt.Sprintf("10.%d.%d.%d", 129+n>>16&31, n>>8&255, n&255)
}

// hosts returns the addresses of a pod's node: the first one, and the first of the other IP family (K
// pkg/util/node/node.go: GetNodeHostIPs).
func hosts(n *corev1.Node, name string) (out []string) {
	if n != nil {
		for _, t := range []corev1.NodeAddressType{corev1.NodeInternalIP, corev1.NodeExternalIP} {
			for _, a := range n.Status.Addresses {
				if a.Type == t && (len(out) == 0 ||
					len(out) == 1 && strings.Contains(a.Address, ":") != strings.Contains(out[0], ":")) {
					out = append(out, a.Address)
				}
			}
		}
	}
	if out == nil {
		return []string{address(name)}
	}
	return out
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}
