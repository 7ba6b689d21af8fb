package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of pods that select the simulated outcome. With a dot and a container's name after it, an annotation is
// for that container, and takes precedence. Without a name it is for all containers except init containers, sidecars
// and ephemeral containers.
const (
	// Annotation has one of the values below. Other values are ignored, and Warnings reports them.
	Annotation = "kubecascade.io/simulate"
	// AnnotationAfter is the time for which a container runs before it exits, such as "5s"; the default is
	// Options.Delay.
	AnnotationAfter = "kubecascade.io/simulate-after"
)

// Values of Annotation.
const (
	// Pending: the pod never starts.
	Pending = "pending"
	// NeverReady: it runs, but is never ready. Unready is an earlier name.
	NeverReady, Unready = "never-ready", "unready"
	// Run: it runs forever, even if a Job controls the pod.
	Run = "run"
	// Succeed: it exits with 0, even if no Job controls the pod.
	Succeed = "succeed"
	// Fail: it exits with 1, or with the code in "fail=3". If it is restarted, the exit repeats, with a pause that
	// doubles.
	Fail = "fail"
	// OOM: it is killed because it has used too much memory, and restarted as after Fail.
	OOM = "oom"
	// CrashLoop: it fails with 1 and, if it is restarted, has the pauses of a kubelet.
	CrashLoop = "crashloop"
	// ImagePull: its image can't be pulled.
	ImagePull = "imagepull"
)

// values has the values of Annotation that its warning names.
var values = []string{Pending, NeverReady, Run, Succeed, Fail, Fail + "=CODE", OOM, CrashLoop, ImagePull}

// Warnings returns messages for annotations whose values have no effect, except for those that were present before.
func Warnings(annotations, before map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		value := annotations[key]
		name, container, one := strings.Cut(strings.TrimPrefix(key, prefix), ".")
		wrong := map[string]func(string) string{"": unknown, "-after": wrongDuration, "-usage": wrongUsage,
			"-conditions": wrongConditions, "-log": func(string) string { return "" }}[name]
		if had, was := before[key]; !strings.HasPrefix(key, prefix) || was && had == value {
			continue
		}
		if wrong == nil || one && (container == "" || name == "-usage" || name == "-conditions") {
			wrong = func(string) string { return "unknown annotation is ignored" }
		}
		why := wrong(value)
		if one && value == Pending && why == "" {
			why = `"pending" is ignored: it is not for a single container`
		}
		if why != "" {
			out = append(out, fmt.Sprintf("metadata.annotations[%s]: %s", key, why))
		}
	}
	return out
}

// prefix begins the names of all annotations.
const prefix = Annotation

// unknown returns the reason why a value of Annotation is ignored; empty if it isn't.
func unknown(value string) string {
	if _, ok := parseOutcome(value); ok {
		return ""
	}
	return fmt.Sprintf("unknown value %q is ignored; valid are %s", value, strings.Join(values, ", "))
}

func wrongDuration(value string) string {
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return ""
	}
	return fmt.Sprintf("%q is ignored: it is no duration like 5s", value)
}

// outcome is the simulated behaviour of a container.
type outcome struct {
	// what is a value of Annotation.
	what string
	// exits reports whether it exits: after the time "after", with code and reason.
	code   int32
	reason string
	exits  bool
	after  time.Duration
}

func parseOutcome(value string) (o outcome, ok bool) {
	what, code, coded := strings.Cut(value, "=")
	switch o.what = what; what {
	case Unready:
		o.what = NeverReady
	case Succeed:
		o.exits, o.reason = true, "Completed"
	case Fail, CrashLoop:
		o.exits, o.code, o.reason = true, 1, "Error"
	case OOM: // K pkg/kubelet/container/runtime.go; containerd: the exit code of SIGKILL
		o.exits, o.code, o.reason = true, 137, "OOMKilled"
	case Pending, NeverReady, Run, ImagePull:
	default:
		return o, false
	}
	if coded {
		n, err := strconv.ParseUint(code, 10, 8)
		if o.code = int32(n); err != nil || n == 0 || what != Fail {
			return o, false
		}
	}
	return o, true
}

// outcomeOf returns the outcome of a container. By default containers run, or succeed if a Job controls the pod; init
// containers succeed at once.
func (o Options) outcomeOf(p *corev1.Pod, container string, role role) outcome {
	after := o.Delay
	if role == initial {
		after = 0
	}
	value := func(annotation string) string {
		if v, ok := p.Annotations[annotation+"."+container]; ok || role != regular {
			return v
		}
		return p.Annotations[annotation]
	}
	out, ok := parseOutcome(value(Annotation))
	if c := metav1.GetControllerOf(p); !ok {
		job := c != nil && c.Kind == "Job" && p.Spec.RestartPolicy != corev1.RestartPolicyAlways
		out, _ = parseOutcome(Run)
		if role == initial || role == regular && job {
			out, _ = parseOutcome(Succeed)
		}
	}
	if d, err := time.ParseDuration(value(AnnotationAfter)); err == nil && d >= 0 {
		after = d
	}
	out.after = after
	return out
}
