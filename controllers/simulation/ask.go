package simulation

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of pods that select the simulated outcome.
const (
	// Annotation has one of the values below; any other is ignored, of which Warnings warns.
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
	// Succeed: its containers exit with 0, even if no Job controls it.
	Succeed = "succeed"
	// Fail: its containers exit with 1. If the pod's restart policy restarts the containers, the exit of either value
	// repeats, with a pause that doubles.
	Fail = "fail"
)

// Warnings are the messages for values of the annotations that have no effect, except those that were present before.
func Warnings(annotations, before map[string]string) (out []string) {
	for _, a := range []struct {
		name  string
		wrong func(value string) string
	}{{Annotation, unknown}, {AnnotationAfter, wrongDuration}, {AnnotationUsage, wrongUsage}} {
		value, ok := annotations[a.name]
		if had, was := before[a.name]; !ok || was && had == value {
			continue
		}
		if why := a.wrong(value); why != "" {
			out = append(out, fmt.Sprintf("metadata.annotations[%s]: %s", a.name, why))
		}
	}
	return out
}

// unknown says why a value of Annotation is ignored; empty if it isn't.
func unknown(value string) string {
	switch value {
	case Pending, Unready, Run, Succeed, Fail:
		return ""
	}
	return fmt.Sprintf("unknown value %q is ignored; valid are %s", value,
		strings.Join([]string{Pending, Unready, Run, Succeed, Fail}, ", "))
}

func wrongDuration(value string) string {
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return ""
	}
	return fmt.Sprintf("%q is ignored: it is no duration like 5s", value)
}

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
