package simulation

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of pods by which they ask for what is to become of them.
const (
	// Annotation has one of the values below; any other is ignored.
	Annotation = "kubecascade.io/simulate"
	// AnnotationAfter is how long the pod runs before it completes, fails or becomes ready, such as "5s"; by
	// default, Options.Delay.
	AnnotationAfter = "kubecascade.io/simulate-after"
)

// Values of Annotation.
const (
	// Pending: it never starts.
	Pending = "pending"
	// Unready: it runs, but is never ready.
	Unready = "unready"
	// Run: it runs for ever, even if it is a Job's.
	Run = "run"
	// Succeed: it completes, even if it is no Job's.
	Succeed = "succeed"
	// Fail: its containers exit with 1. If they are to be restarted that happens again and again, with a pause
	// that doubles.
	Fail = "fail"
)

// wish is what becomes of the pod.
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

// runs is how long the pod runs before its wish comes true.
func (o Options) runs(p *corev1.Pod) time.Duration {
	if d, err := time.ParseDuration(p.Annotations[AnnotationAfter]); err == nil && d >= 0 {
		return d
	}
	return o.Delay
}
