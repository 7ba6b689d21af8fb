package job

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// tracked reports whether the pod has the finalizer, so that it is still to be counted.
func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) }

// lost reports whether the pod counts as failed. A deleted pod does, as it may never report its phase
// (job_controller.go: isPodFailed).
func lost(j *batchv1.Job, p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || !patient(j) && workload.Terminating(p)
}

// patient reports whether a pod is replaced only when it has ended (job_controller.go: onlyReplaceFailedPods).
func patient(j *batchv1.Job) bool {
	return j.Spec.PodReplacementPolicy != nil && *j.Spec.PodReplacementPolicy == batchv1.Failed ||
		j.Spec.PodFailurePolicy != nil
}

func filter(pods []*corev1.Pod, keep func(*corev1.Pod) bool) (out []*corev1.Pod) {
	for _, p := range pods {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

func count(pods []*corev1.Pod, what func(*corev1.Pod) bool) int32 {
	return int32(len(filter(pods, what)))
}

// dearest orders pods by the work that is lost with them, the least first: pods on no node, pending, not ready, ready
// for a short time, restarted often, and young (controller_utils.go: ActivePods).
func dearest(a, b *corev1.Pod) int {
	return cmp.Or(
		workload.FalseFirst(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank[a.Status.Phase], phaseRank[b.Status.Phase]),
		workload.FalseFirst(workload.IsReady(a), workload.IsReady(b)),
		cmp.Compare(readySince(b), readySince(a)),
		cmp.Compare(restarts(b), restarts(a)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

var phaseRank = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

// readySince returns the time, in seconds, since which the pod is ready; 0 if it isn't.
func readySince(p *corev1.Pod) int64 {
	if since, ok := workload.Ready(p); ok {
		return since.Unix()
	}
	return 0
}

func restarts(p *corev1.Pod) (most int32) {
	for _, c := range p.Status.ContainerStatuses {
		most = max(most, c.RestartCount)
	}
	return most
}
