package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// role is the kind of a container in its pod.
type role int

const (
	regular role = iota
	// initial is an init container that ends before others start.
	initial
	sidecar
	ephemeral
)

// container is a container of a pod, with its status, which step changes. The status is nil if the pod has none.
type container struct {
	*corev1.Container
	*corev1.ContainerStatus
	pod  *corev1.Pod
	role role
	// at is the path of the container in the pod, for events.
	at string
	outcome
}

// containersOf returns the containers of a pod, in the order in which they start.
func containersOf(p *corev1.Pod) (out []container) {
	add := func(c *corev1.Container, r role, list string) {
		out = append(out, container{Container: c, ContainerStatus: statusOf(p, c.Name), pod: p, role: r,
			at: fmt.Sprintf("spec.%s{%s}", list, c.Name)})
	}
	for i := range p.Spec.InitContainers {
		c, r := &p.Spec.InitContainers[i], initial
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			r = sidecar
		}
		add(c, r, "initContainers")
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i], regular, "containers")
	}
	for i := range p.Spec.EphemeralContainers {
		c := corev1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		add(&c, ephemeral, "ephemeralContainers")
	}
	return out
}

// statusOf returns the status of a pod's container; nil if there is none.
func statusOf(p *corev1.Pod, container string) *corev1.ContainerStatus {
	for _, all := range [][]corev1.ContainerStatus{
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range all {
			if all[i].Name == container {
				return &all[i]
			}
		}
	}
	return nil
}

// runs reports whether the container is running.
func (c *container) runs() bool { return c.ContainerStatus != nil && c.State.Running != nil }

// killedCode is the exit code of a container that SIGTERM has ended.
const killedCode = 143

// The longest pause between restarts is a kubelet's, and so is the first one for CrashLoop and ImagePull (K
// pkg/kubelet/kubelet.go: MaxCrashLoopBackOff, initialCrashLoopBackOff). Other outcomes begin with a shorter one.
const (
	shortestPause = time.Second
	kubeletPause  = 10 * time.Second
	longestPause  = 5 * time.Minute
)

// step makes the next change of a container that is due, and returns its events, and the time until the next one; 0
// for none.
func (c *container) step(now metav1.Time) (events []workload.Event, again time.Duration) {
	if events := c.relaunch(now); events != nil {
		return events, 0
	}
	state, last := &c.State, c.LastTerminationState.Terminated
	switch {
	case state.Terminated != nil:
		return nil, 0
	case state.Running != nil:
		if !c.exits {
			return nil, 0
		}
		if wait := left(state.Running.StartedAt.Time, c.after, now.Time); wait > 0 {
			return nil, wait
		}
		return c.exit(now), 0
	case last != nil:
		if wait := left(last.FinishedAt.Time, c.pause(), now.Time); wait > 0 {
			return nil, wait
		}
		return c.launch(now, c.RestartCount+1), 0
	case c.what == ImagePull:
		return c.pull(now)
	}
	events = c.launch(now, 0)
	if c.exits && c.after == 0 && c.role == initial {
		events = append(events, c.exit(now)...)
	}
	return events, 0
}

// launch starts a container, for the first time or again. Ephemeral containers are never ready or started (K
// pkg/kubelet/status/status_manager.go).
func (c *container) launch(now metav1.Time, restarts int32) []workload.Event {
	*c.ContainerStatus = corev1.ContainerStatus{
		Name: c.Container.Name, Image: c.Container.Image, ImageID: simulatedPrefix + c.Container.Image,
		RestartCount: restarts, Started: new(true), LastTerminationState: c.LastTerminationState,
		ContainerID: fmt.Sprintf("%s%s/%s/%d", simulatedPrefix, c.pod.UID, c.Container.Name, restarts),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}
	if c.role == ephemeral {
		c.Started = nil
	}
	return c.starting()
}

// relaunch starts a container with another image, with any restart policy, and returns the events (K
// pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions). A container that waits for a restart starts at
// once, as the pause belongs to the old image. Some resizes restart a running container, too.
func (c *container) relaunch(now metav1.Time) (events []workload.Event) {
	image, ok := strings.CutPrefix(c.ImageID, simulatedPrefix)
	resized := c.State.Running != nil && c.resized()
	if !ok || image == c.Container.Image && !resized || c.State.Terminated != nil {
		return nil
	}
	restarts, why := c.RestartCount, "definition changed, will be restarted"
	if resized {
		why = "resize requires restart"
	}
	if c.State.Running != nil {
		events = append(events, c.report(corev1.EventTypeNormal, "Killing",
			fmt.Sprintf("Container %s %s", c.Container.Name, why)))
		c.end(now, killedCode, "Error")
		c.LastTerminationState, restarts = c.State, restarts+1
	}
	return append(events, c.launch(now, restarts)...)
}

// resized reports whether a resize restarts the container (K pkg/kubelet/kuberuntime/kuberuntime_manager.go:
// computePodResizeAction). Requests for memory don't.
func (c *container) resized() bool {
	was, is := c.ContainerStatus.Resources, c.Container.Resources
	return was != nil && slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
		r := p.ResourceName
		return p.RestartPolicy == corev1.RestartContainer && (!is.Limits[r].Equal(was.Limits[r]) ||
			r == corev1.ResourceCPU && !is.Requests.Cpu().Equal(*was.Requests.Cpu()))
	})
}

// exit ends a container with its outcome. The first restart is immediate, later ones follow after a pause (K
// pkg/kubelet/kuberuntime/kuberuntime_manager.go: doBackOff).
func (c *container) exit(now metav1.Time) []workload.Event {
	c.end(now, c.code, c.reason)
	if !c.restarts() {
		return nil
	}
	c.LastTerminationState = c.State
	if c.RestartCount == 0 {
		return c.launch(now, 1)
	}
	name := fullName(c.pod)
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", c.pause(), c.Container.Name, name)}}
	return []workload.Event{c.report(corev1.EventTypeWarning, "BackOff",
		fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Container.Name, name))}
}

// end ends a running container.
func (c *container) end(now metav1.Time, code int32, reason string) {
	c.Ready, c.Started, c.State = false, new(false), corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: c.State.Running.StartedAt, FinishedAt: now, ContainerID: c.ContainerID,
	}}
}

// restarts reports whether the container is restarted after its outcome (K pkg/kubelet/container/helpers.go:
// ShouldContainerBeRestarted). The container's own policy takes precedence over the pod's. Init containers that succeed
// are not restarted.
func (c *container) restarts() bool {
	policy := c.pod.Spec.RestartPolicy
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	switch policy = cmp.Or(policy, corev1.RestartPolicyAlways); {
	case c.role == ephemeral || policy == corev1.RestartPolicyNever:
		return false
	case c.role == initial || policy == corev1.RestartPolicyOnFailure:
		return c.code != 0
	}
	return true
}

// pause returns the time before the next restart. It doubles with each.
func (c *container) pause() time.Duration {
	if c.what == CrashLoop {
		return doubled(kubeletPause, c.RestartCount-1)
	}
	return doubled(max(c.after, shortestPause), c.RestartCount-1)
}

func doubled(d time.Duration, times int32) time.Duration {
	for range min(times, 20) {
		d = min(2*d, longestPause)
	}
	return d
}

// pull shows that the image can't be pulled. The attempts are a kubelet's, with its pauses from the start of the pod
// on, and each failure is shown for half of the first pause (K pkg/kubelet/images/image_manager.go: EnsureImageExists).
func (c *container) pull(now metav1.Time) (events []workload.Event, again time.Duration) {
	const shown = kubeletPause / 2
	image, elapsed, pause := c.Container.Image, max(0, now.Sub(active(c.pod))), kubeletPause
	for ; elapsed >= pause; pause = min(2*pause, longestPause) {
		elapsed -= pause
	}
	problem := fmt.Sprintf("failed to pull and unpack image %q: not found", image)
	next := &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: problem}
	if again = shown - elapsed; c.ImagePullPolicy == corev1.PullNever {
		again, next.Reason = 0, "ErrImageNeverPull"
		next.Message = fmt.Sprintf("Container image %q is not present with pull policy of Never", image)
		events = []workload.Event{c.report(corev1.EventTypeWarning, next.Reason, next.Message)}
	} else if again > 0 {
		events = []workload.Event{
			c.report(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image)),
			c.report(corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, problem))}
	} else {
		again = pause - elapsed
		next = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff",
			Message: fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", image, problem)}
		events = []workload.Event{
			c.report(corev1.EventTypeNormal, "BackOff", fmt.Sprintf("Back-off pulling image %q", image))}
	}
	if was := c.State.Waiting; was != nil && *was == *next {
		return nil, again
	}
	c.State = corev1.ContainerState{Waiting: next}
	return append(events, c.report(corev1.EventTypeWarning, "Failed", "Error: "+next.Reason)), again
}
