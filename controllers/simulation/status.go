package simulation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pauses between restarts; the longest is kubelet's.
const (
	shortestPause = time.Second
	longestPause  = 5 * time.Minute
)

// restarted is when the containers crashed last.
func (o Options) restarted(p *corev1.Pod) (at time.Time, ok bool) {
	for _, c := range p.Status.ContainerStatuses {
		if t := c.LastTerminationState.Terminated; t != nil {
			return t.FinishedAt.Time, true
		}
	}
	return at, false
}

// pause is how long the pod runs, longer with each restart.
func (o Options) pause(p *corev1.Pod) time.Duration {
	d := o.runs(p)
	if len(p.Status.ContainerStatuses) == 0 {
		return d
	}
	for range min(p.Status.ContainerStatuses[0].RestartCount, 20) {
		d = min(2*max(d, shortestPause/2), longestPause)
	}
	return d
}

// simulatedPrefix begins the IDs of images and containers.
const simulatedPrefix = "simulated://"

// condition sets a condition of the pod.
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

// notReady is the reason of the conditions of a pod whose containers should be ready.
const notReady = "ContainersNotReady"

// running sets the status of a pod whose containers run. On the network of the host it has the node's addresses (K
// pkg/kubelet/kubelet_pods.go: generateAPIPodStatus).
func running(p *corev1.Pod, hosts []string, now metav1.Time) {
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &now
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
	condition(p, corev1.PodInitialized, true, "", "", now)
	p.Status.InitContainerStatuses, p.Status.ContainerStatuses = nil, nil
	for _, c := range p.Spec.InitContainers {
		s := launched(p, &c, 0, now)
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			exited(&s, now, 0)
		}
		s.Ready = true
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, launched(p, &c, 0, now))
	}
	follow(p, now)
}

// launched is the status of a container that was started, for the first time or again.
func launched(p *corev1.Pod, c *corev1.Container, restarts int32, now metav1.Time) corev1.ContainerStatus {
	yes := true
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: simulatedPrefix + c.Image, RestartCount: restarts, Started: &yes,
		ContainerID: containerID(p, c.Name, restarts),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}
}

func containerID(p *corev1.Pod, name string, restarts int32) string {
	return fmt.Sprintf("%s%s/%s/%d", simulatedPrefix, p.UID, name, restarts)
}

// killedCode is the exit code of a container that SIGTERM has ended.
const killedCode = 143

// finished sets the status of a pod whose containers have exited with the code and won't be restarted. Those that would
// run on are killed, and the pod's sandbox is stopped.
func finished(p *corev1.Pod, now metav1.Time, code int32) {
	p.Status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if code != 0 {
		p.Status.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	stopped(p, now, code)
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Running != nil {
				exited(&list[i], now, killedCode)
			}
		}
	}
	condition(p, corev1.PodReady, false, reason, "", now)
	condition(p, corev1.ContainersReady, false, reason, "", now)
	condition(p, corev1.PodReadyToStartContainers, false, "", "", now)
	if code == 0 {
		condition(p, corev1.PodInitialized, true, reason, "", now)
	}
	observe(p)
}

// crashed sets the status of a pod whose containers have exited with the code and will be restarted after a pause (K
// pkg/kubelet/kuberuntime/kuberuntime_manager.go: doBackOff).
func (o Options) crashed(p *corev1.Pod, now metav1.Time, code int32) {
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		c.ContainerID = containerID(p, c.Name, c.RestartCount)
	}
	stopped(p, now, code)
	readiness(p, now)
	observe(p)
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		c.LastTerminationState, c.RestartCount = c.State, c.RestartCount+1
	}
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", o.pause(p), c.Name, fullName(p))}}
	}
}

// stopped ends the containers.
func stopped(p *corev1.Pod, now metav1.Time, code int32) {
	for i := range p.Status.ContainerStatuses {
		exited(&p.Status.ContainerStatuses[i], now, code)
	}
}

// exited ends a container.
func exited(s *corev1.ContainerStatus, now metav1.Time, code int32) {
	from, no, reason := now, false, "Completed"
	if s.State.Running != nil {
		from = s.State.Running.StartedAt
	}
	if code != 0 {
		reason = "Error"
	}
	s.Ready, s.Started, s.State = false, &no, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: from, FinishedAt: now, ContainerID: s.ContainerID,
	}}
}
