package simulation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// simulatedPrefix begins the IDs of images and containers.
const simulatedPrefix = "simulated://"

func condition(p *corev1.Pod, t corev1.PodConditionType, is bool, reason, message string, now metav1.Time) {
	c := corev1.PodCondition{
		Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: now,
		ObservedGeneration: p.Generation,
	}
	if is {
		c.Status = corev1.ConditionTrue
	}
	workload.SetPodCondition(p, c)
}

// notReady is the reason of the conditions while containers are not ready.
const notReady = "ContainersNotReady"

// begin sets the status of a pod whose containers are about to start. On the network of the host it has the node's
// addresses (K pkg/kubelet/kubelet_pods.go: generateAPIPodStatus).
func begin(p *corev1.Pod, hosts []string, now metav1.Time) {
	p.Status.StartTime = &now
	n := hash(string(p.UID))
	ips := []string{fmt.Sprintf("10.%d.%d.%d", 64+n>>16&63, n>>8&255, n&255)}
	if p.Spec.HostNetwork {
		ips = hosts
	}
	p.Status.HostIP, p.Status.HostIPs, p.Status.PodIP, p.Status.PodIPs = hosts[0], nil, ips[0], nil
	for _, ip := range hosts {
		p.Status.HostIPs = append(p.Status.HostIPs, corev1.HostIP{IP: ip})
	}
	for _, ip := range ips {
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: ip})
	}
	condition(p, corev1.PodScheduled, true, "", "", now)
	condition(p, corev1.PodReadyToStartContainers, true, "", "", now)
	p.Status.InitContainerStatuses, p.Status.ContainerStatuses = nil, nil
}

// finished sets the status of a pod that has ended. Containers that still run are killed, and the pod's sandbox is
// stopped.
func finished(p *corev1.Pod, now metav1.Time, phase corev1.PodPhase) {
	p.Status.Phase = phase
	reason := "PodCompleted"
	if phase == corev1.PodFailed {
		reason = "PodFailed"
	}
	for _, c := range containersOf(p) {
		if c.runs() {
			c.end(now, killedCode, "Error")
		}
	}
	condition(p, corev1.PodReady, false, reason, "", now)
	condition(p, corev1.ContainersReady, false, reason, "", now)
	condition(p, corev1.PodReadyToStartContainers, false, "", "", now)
	if phase == corev1.PodSucceeded {
		condition(p, corev1.PodInitialized, true, reason, "", now)
	}
	observe(p)
}
