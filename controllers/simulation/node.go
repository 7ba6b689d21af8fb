package simulation

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// NodeName is the node that always exists.
const NodeName = "simulated"

// hostIP is the address of every node. It is in neither the default range of services nor that of pods.
const hostIP = "10.128.0.1"

// kubelets are the kubelets of all nodes.
type kubelets struct{ version string }

// Node creates and maintains the node. version is the kubelets' ("v1.36.3").
func Node(version string) workload.Controller {
	return workload.Controller{
		Name: "node-simulation", For: workload.Nodes, Start: []workload.Key{{Name: NodeName}}, Decide: kubelets{version}.node,
	}
}

// node creates the node, and sets every node to ready.
func (k kubelets) node(v workload.View, now time.Time) workload.Plan {
	if v.Object == nil {
		if v.Key.Name != NodeName {
			return workload.Plan{}
		}
		return workload.Plan{Do: []workload.Action{workload.Create{Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: NodeName, Labels: map[string]string{
				corev1.LabelHostname: NodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			}}}}}}
	}
	n := v.Object.(*corev1.Node)
	i := ready(n)
	if i >= 0 && n.Status.Conditions[i].Message != offMessage {
		return workload.Plan{} // it is ready, or a client has set another condition
	}
	n = n.DeepCopy()
	if i >= 0 { // it was simulated before
		n.Status.Conditions = slices.Delete(n.Status.Conditions, i, i+1)
	}
	at := metav1.NewTime(now)
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady,
		Status: corev1.ConditionTrue,
		Reason: readyReason, Message: readyMessage, LastHeartbeatTime: at, LastTransitionTime: at})
	if len(n.Status.Capacity) == 0 {
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1k"),
			corev1.ResourceMemory: resource.MustParse("1Ti"),
			corev1.ResourcePods:   resource.MustParse("1M")}
		n.Status.Allocatable = n.Status.Capacity
	}
	if n.Status.NodeInfo.KubeletVersion == "" {
		n.Status.NodeInfo = corev1.NodeSystemInfo{
			KubeletVersion: k.version, OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "simulated://1",
		}
	}
	if len(n.Status.Addresses) == 0 {
		n.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: hostIP}, {Type: corev1.NodeHostName, Address: n.Name},
		}
	}
	return workload.Plan{Status: n}
}

// admits reports whether the pod tolerates the node's taints. Taints for conditions of a ready node are ignored: it has
// no problems, and the controller that removes them may not run.
func admits(n *corev1.Node, p *corev1.Pod) bool {
	i := ready(n)
	bad := i >= 0 && n.Status.Conditions[i].Status != corev1.ConditionTrue
	taints := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool {
		return !bad && strings.HasPrefix(t.Key, "node.kubernetes.io/")
	})
	return workload.Tolerates(p.Spec.Tolerations, taints, corev1.TaintEffectNoSchedule) &&
		workload.Tolerates(p.Spec.Tolerations, taints, corev1.TaintEffectNoExecute)
}

// named is the node that a pod's required affinity names, as for DaemonSets' pods.
func named(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// number is a pseudo-random number of the pod.
func number(p *corev1.Pod) uint32 {
	h := fnv.New32a()
	h.Write([]byte(p.UID))
	return h.Sum32()
}
