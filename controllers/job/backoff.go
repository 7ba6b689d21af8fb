package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// delays are the delays before a failed pod is replaced (job_controller.go: DefaultJobPodFailureBackOff,
// MaxJobPodFailureBackOff).
var delays = workload.Backoff{Min: 10 * time.Second, Max: 10 * time.Minute}

// Backoff is the record of a Job's failures. The pause before a failed pod is replaced grows with it. It isn't stored:
// a restarted controller has none.
type Backoff struct {
	// Failures since the last success.
	Failures int
	// Last is the time of the last of them; zero without one.
	Last time.Time
}

// after adds the pods that have finished since (backoff_utils.go: newBackoffRecord).
func (b Backoff) after(succeeded, failed []*corev1.Pod) Backoff {
	since := time.Time{}
	if len(succeeded) > 0 {
		b = Backoff{}
		since = slices.MaxFunc(finishes(succeeded), time.Time.Compare)
	}
	for _, at := range finishes(failed) {
		if len(succeeded) > 0 && !at.After(since) {
			continue
		}
		b.Failures++
		if at.After(b.Last) || b.Failures == 1 {
			b.Last = at
		}
	}
	return b
}

// by replaces a failure time in the future by now, so that no pause is longer than delays.Max. Such a time is from
// before the clock was set back. Upstream waits until the clock has caught up.
func (b Backoff) by(now time.Time) Backoff {
	if b.Last.After(now) {
		b.Last = now
	}
	return b
}

// until returns the time when the next pod may be created.
func (b Backoff) until() time.Time {
	if b.Failures == 0 {
		return time.Time{}
	}
	return b.Last.Add(delays.After(b.Failures))
}

func finishes(pods []*corev1.Pod) (out []time.Time) {
	for _, p := range pods {
		out = append(out, finished(p))
	}
	return out
}

// finished estimates when the pod ended: by its containers, its condition Ready, its deletion, or else its creation
// (backoff_utils.go: getFinishedTime).
func finished(p *corev1.Pod) time.Time {
	if t := terminated(p.Status.ContainerStatuses); !t.IsZero() {
		return t
	}
	if c := workload.PodCondition(p, corev1.PodReady); c != nil && c.Status == corev1.ConditionFalse &&
		!c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	if p.DeletionTimestamp != nil {
		return workload.Requested(p)
	}
	return p.CreationTimestamp.Time
}

// terminated returns the time at which the last container ended; zero unless all have ended.
func terminated(containers []corev1.ContainerStatus) (last time.Time) {
	for _, c := range containers {
		if c.State.Terminated == nil || c.State.Terminated.FinishedAt.IsZero() {
			return time.Time{}
		}
		if t := c.State.Terminated.FinishedAt.Time; t.After(last) {
			last = t
		}
	}
	return last
}
