package simulation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of pods that select the simulated outcome.
const (
	// Annotation has one of the values below; any other is ignored.
	Annotation = "kubecascade.io/simulate"
	// AnnotationAfter is how long the pod runs before it completes, fails or becomes ready, such as "5s"; the default
	// is Options.Delay.
	AnnotationAfter = "kubecascade.io/simulate-after"
)

// Values of Annotation.
const (
	// Pending: it never starts.
	Pending = "pending"
	// Unready: it runs, but is never ready.
	Unready = "unready"
	// Run: it runs forever, even if a Job controls it.
	Run = "run"
	// Succeed: it completes, even if no Job controls it.
	Succeed = "succeed"
	// Fail: its containers exit with 1. If they are restarted that repeats, with a pause that doubles.
	Fail = "fail"
)

// wish is the simulated outcome of the pod.
func wish(p *corev1.Pod) string {
	switch w := p.Annotations[Annotation]; w {
	case Pending, Unready, Run, Succeed, Fail:
		return w
	}
	if c := metav1.GetControllerOf(p); c != nil && c.Kind == "Job" && p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		return Succeed
	}
	return Run
}

// runs is how long the pod runs before its outcome.
func (o Options) runs(p *corev1.Pod) time.Duration {
	if d, err := time.ParseDuration(p.Annotations[AnnotationAfter]); err == nil && d >= 0 {
		return d
	}
	return o.Delay
}
