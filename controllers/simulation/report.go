package simulation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// report returns a kubelet's event about the container at a field of the pod (K pkg/kubelet/container/ref.go:
// GenerateContainerRef).
func report(p *corev1.Pod, kind, reason, message, field string) workload.Event {
	return workload.Event{Type: kind, Reason: reason, Message: message, Field: field, Host: p.Spec.NodeName}
}

// fields returns the fields of the containers that a pod starts.
func fields(p *corev1.Pod) (containers []corev1.Container, at []string) {
	for _, c := range p.Spec.InitContainers {
		containers, at = append(containers, c), append(at, fmt.Sprintf("spec.initContainers{%s}", c.Name))
	}
	for _, c := range p.Spec.Containers {
		containers, at = append(containers, c), append(at, fmt.Sprintf("spec.containers{%s}", c.Name))
	}
	for _, c := range p.Spec.EphemeralContainers {
		containers = append(containers, corev1.Container(c.EphemeralContainerCommon))
		at = append(at, fmt.Sprintf("spec.ephemeralContainers{%s}", c.Name))
	}
	return containers, at
}

// starting returns the events of a container that starts (K pkg/kubelet/images/image_manager.go: EnsureImageExists;
// pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer). Images are present, and empty.
func starting(p *corev1.Pod, c corev1.Container, at string) (out []workload.Event) {
	pulled := "Container image %q already present on machine and can be accessed by the pod"
	if c.ImagePullPolicy == corev1.PullAlways {
		pulled = "Successfully pulled image %q in 0s (0s including waiting). Image size: 0 bytes."
		out = append(out, report(p, corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", c.Image), at))
	}
	return append(out, report(p, corev1.EventTypeNormal, "Pulled", fmt.Sprintf(pulled, c.Image), at),
		report(p, corev1.EventTypeNormal, "Created", "Container created", at),
		report(p, corev1.EventTypeNormal, "Started", "Container started", at))
}

// fullName returns the name of a pod as in kubelets' messages (K pkg/kubelet/util/format/pod.go: Pod).
func fullName(p *corev1.Pod) string { return fmt.Sprintf("%s_%s(%s)", p.Name, p.Namespace, p.UID) }

// killed returns the events of running containers that are stopped (K pkg/kubelet/kuberuntime/kuberuntime_container.go:
// killContainer).
func killed(p *corev1.Pod) (out []workload.Event) {
	containers, at := fields(p)
	for i, c := range containers {
		if _, ok := runsSince(p, c.Name); ok {
			out = append(out, report(p, corev1.EventTypeNormal, "Killing", "Stopping container "+c.Name, at[i]))
		}
	}
	return out
}
