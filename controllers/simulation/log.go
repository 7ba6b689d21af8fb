package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationLog has the lines that containers log when they start.
const AnnotationLog = "kubecascade.io/simulate-log"

// Log returns the log of a container of a simulated pod, and whether it has ended.
func Log(p *corev1.Pod, container string, o *corev1.PodLogOptions, now time.Time) (text string, ended bool, err error) {
	s := cmp.Or(statusOf(p, container), &corev1.ContainerStatus{})
	started, err := logged(p, container, s, o.Previous)
	if err != nil {
		return "", false, err
	}
	ended = o.Previous || s.State.Running == nil
	value, ok := p.Annotations[AnnotationLog+"."+container]
	if !ok {
		value = p.Annotations[AnnotationLog]
	}
	lines := slices.Collect(strings.Lines(value))
	if o.SinceTime != nil && started.Time.Before(o.SinceTime.Time) ||
		o.SinceSeconds != nil && started.Time.Before(now.Add(-time.Duration(*o.SinceSeconds)*time.Second)) {
		lines = nil
	}
	if o.TailLines != nil {
		lines = lines[max(0, len(lines)-int(min(*o.TailLines, int64(len(lines))))):]
	}
	var b strings.Builder
	for _, line := range lines {
		if o.Timestamps {
			b.WriteString(started.UTC().Format(time.RFC3339Nano) + " ")
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		if o.LimitBytes != nil && int64(b.Len()) >= *o.LimitBytes {
			return b.String()[:*o.LimitBytes], true, nil
		}
	}
	return b.String(), ended, nil
}

// logged returns the time at which the container run began whose log is read (K pkg/kubelet/kubelet_pods.go:
// validateContainerLogStatus).
func logged(p *corev1.Pod, container string, s *corev1.ContainerStatus, previous bool) (at metav1.Time, err error) {
	last := s.LastTerminationState.Terminated
	switch {
	case previous && s.RestartCount == 0 && last == nil:
		return at, apierrors.NewBadRequest(
			fmt.Sprintf("previous terminated container %q in pod %q not found", container, p.Name))
	case previous && last != nil:
		return last.StartedAt, nil
	case s.State.Running != nil && !previous:
		return s.State.Running.StartedAt, nil
	case s.State.Terminated != nil:
		return s.State.Terminated.StartedAt, nil
	case last != nil: // it is about to restart
		return last.StartedAt, nil
	}
	why := "ContainerCreating"
	if w := s.State.Waiting; w != nil {
		why = cmp.Or(map[string]string{"ErrImagePull": "image can't be pulled",
			"ImagePullBackOff": "trying and failing to pull image"}[w.Reason], w.Reason)
	}
	return at, apierrors.NewBadRequest(
		fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, p.Name, why))
}
