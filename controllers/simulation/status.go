package simulation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	had := conditionOf(p, t)
	if had == nil {
		p.Status.Conditions = append(p.Status.Conditions, c)
		return
	}
	if had.Status == c.Status {
		c.LastTransitionTime = had.LastTransitionTime
	}
	*had = c
}

// conditionOf returns the condition of the type; nil if there is none.
func conditionOf(p *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// notReady is the reason of the conditions while containers are not ready.
const notReady = "ContainersNotReady"

// begin sets the status of a pod whose containers are about to start. On the network of the host it has the node's
// addresses (K pkg/kubelet/kubelet_pods.go: generateAPIPodStatus).
func begin(p *corev1.Pod, hosts []string, now metav1.Time) {
	p.Status.StartTime = &now
	n := number(p)
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
	for _, list := range [][]corev1.ContainerStatus{
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Running != nil {
				terminated(&list[i], now, killedCode, "Error")
			}
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
