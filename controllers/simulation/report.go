package simulation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// report returns a kubelet's event about the container (K pkg/kubelet/container/ref.go: GenerateContainerRef).
func (c *container) report(kind, reason, message string) workload.Event {
	return workload.Event{Type: kind, Reason: reason, Message: message, Field: c.at, Host: c.pod.Spec.NodeName}
}

// starting returns the events of a container that starts (K pkg/kubelet/images/image_manager.go: EnsureImageExists;
// pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer). Images are present, and empty.
func (c *container) starting() (out []workload.Event) {
	pulled, image := "Container image %q already present on machine and can be accessed by the pod", c.Container.Image
	if c.ImagePullPolicy == corev1.PullAlways {
		pulled = "Successfully pulled image %q in 0s (0s including waiting). Image size: 0 bytes."
		out = append(out, c.report(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image)))
	}
	return append(out, c.report(corev1.EventTypeNormal, "Pulled", fmt.Sprintf(pulled, image)),
		c.report(corev1.EventTypeNormal, "Created", "Container created"),
		c.report(corev1.EventTypeNormal, "Started", "Container started"))
}

// fullName returns the name of a pod as in kubelets' messages (K pkg/kubelet/util/format/pod.go: Pod).
func fullName(p *corev1.Pod) string { return fmt.Sprintf("%s_%s(%s)", p.Name, p.Namespace, p.UID) }

// killed returns the events of running containers that are stopped (K pkg/kubelet/kuberuntime/kuberuntime_container.go:
// killContainer).
func killed(p *corev1.Pod) (out []workload.Event) {
	for _, c := range containersOf(p) {
		if c.runs() {
			out = append(out, c.report(corev1.EventTypeNormal, "Killing", "Stopping container "+c.Container.Name))
		}
	}
	return out
}
