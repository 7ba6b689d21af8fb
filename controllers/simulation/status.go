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

// condition sets a condition of the pod.
func condition(p *corev1.Pod, t corev1.PodConditionType, is bool, reason, message string, now metav1.Time) {
	c := corev1.PodCondition{
		Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: now,
		ObservedGeneration: p.Generation,
	}
	if is {
		c.Status = corev1.ConditionTrue
	}
	for i, had := range p.Status.Conditions {
		if had.Type == t {
			if had.Status == c.Status {
				c.LastTransitionTime = had.LastTransitionTime
			}
			p.Status.Conditions[i] = c
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, c)
}

// notReady is the reason of the conditions of a pod whose containers should be ready.
const notReady = "ContainersNotReady"

// unready is the message for that (K pkg/kubelet/status/generate.go: GenerateContainersReadyCondition).
func unready(p *corev1.Pod) string {
	var names []string
	for _, c := range p.Spec.Containers {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("containers with unready status: %s", names)
}

// running sets the status of a pod whose containers run.
func running(p *corev1.Pod, hostIP string, now metav1.Time, ready bool) {
	n := number(p)
	p.Status.Phase, p.Status.StartTime, p.Status.ObservedGeneration = corev1.PodRunning, &now, p.Generation
	p.Status.HostIP = hostIP
	p.Status.HostIPs = []corev1.HostIP{{IP: p.Status.HostIP}}
	p.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", 64+n>>16&63, n>>8&255, n&255)
	p.Status.PodIPs = []corev1.PodIP{{IP: p.Status.PodIP}}
	reason, message := "", ""
	if !ready {
		reason, message = notReady, unready(p)
	}
	condition(p, corev1.PodReadyToStartContainers, true, "", "", now)
	condition(p, corev1.PodInitialized, true, "", "", now)
	condition(p, corev1.PodReady, ready, reason, message, now)
	condition(p, corev1.ContainersReady, ready, reason, message, now)
	yes := true
	p.Status.InitContainerStatuses = nil
	for _, c := range p.Spec.InitContainers {
		s := containerOf(p, c)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			s.Ready, s.Started, s.State.Running = true, &yes, &corev1.ContainerStateRunning{StartedAt: now}
			given(&s, &c)
		} else {
			s.Ready, s.State.Terminated = true, terminated(now, now, 0)
		}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
	p.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		s := containerOf(p, c)
		s.Ready, s.Started, s.State.Running = ready, &yes, &corev1.ContainerStateRunning{StartedAt: now}
		given(&s, &c)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

func containerOf(p *corev1.Pod, c corev1.Container) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: "simulated://" + c.Image,
		ContainerID: fmt.Sprintf("simulated://%s/%s", p.UID, c.Name),
	}
}

func terminated(from, to metav1.Time, code int32) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: from, FinishedAt: to}
}

// finished sets the status of a pod whose containers have exited with the code and won't be restarted.
func finished(p *corev1.Pod, now metav1.Time, code int32) {
	p.Status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if code != 0 {
		p.Status.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	stopped(p, now, code, reason, "")
}

// crashed sets the status of a pod whose containers have exited and will be restarted after a pause (K
// pkg/kubelet/kuberuntime/kuberuntime_manager.go: doBackOff).
func (o Options) crashed(p *corev1.Pod, now metav1.Time) {
	stopped(p, now, 1, notReady, unready(p))
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

func stopped(p *corev1.Pod, now metav1.Time, code int32, reason, message string) {
	p.Status.ObservedGeneration = p.Generation
	condition(p, corev1.PodReady, false, reason, message, now)
	condition(p, corev1.ContainersReady, false, reason, message, now)
	no := false
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		from := now
		if c.State.Running != nil {
			from = c.State.Running.StartedAt
		}
		c.Ready, c.Started, c.State = false, &no, corev1.ContainerState{Terminated: terminated(from, now, code)}
	}
}
