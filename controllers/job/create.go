package job

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// newPod returns a pod of the Job's template (I-03, F-13).
func newPod(j *batchv1.Job) *corev1.Pod {
	p := workload.FromTemplate(j, &j.Spec.Template)
	if !tracked(p) {
		p.Finalizers = append(p.Finalizers, batchv1.JobTrackingFinalizer)
	}
	return p
}

// mostPrefix is the maximum length of metadata.generateName that isn't truncated.
const mostPrefix = 58

// newIndexedPod returns a pod with a completion index. If it replaces a failed one, it continues the count of failures
// (indexed_job_utils.go).
func newIndexedPod(j *batchv1.Job, index int, old *corev1.Pod) *corev1.Pod {
	p, i := newPod(j), strconv.Itoa(index)
	metav1.SetMetaDataLabel(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, i)
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, i)
	if j.Spec.BackoffLimitPerIndex != nil {
		failures, ignored := failuresOf(old), ignoredOf(old)
		switch {
		case old == nil:
		case matchRule(j.Spec.PodFailurePolicy, old).counts():
			failures++
		default:
			ignored++
		}
		p.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(failures)
		if ignored > 0 {
			p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(ignored)
		}
	}
	p.Spec.Hostname = j.Name + "-" + i
	p.GenerateName = j.Name[:min(len(j.Name), mostPrefix-len(i)-2)] + "-" + i + "-"
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for c := range list {
			list[c].Env = withIndex(list[c].Env)
		}
	}
	return p
}

const indexVariable = "JOB_COMPLETION_INDEX"

func withIndex(env []corev1.EnvVar) []corev1.EnvVar {
	if slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
		return env
	}
	path := fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)
	return append(env, corev1.EnvVar{
		Name: indexVariable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}},
	})
}

// attempts returns how often the pod's index had failed when the pod was created.
func attempts(p *corev1.Pod) int { return failuresOf(p) + ignoredOf(p) }

func failuresOf(p *corev1.Pod) int { return number(p, batchv1.JobIndexFailureCountAnnotation) }

func ignoredOf(p *corev1.Pod) int { return number(p, batchv1.JobIndexIgnoredFailureCountAnnotation) }

// number parses an annotation that users may have changed.
func number(p *corev1.Pod, key string) int {
	if p == nil {
		return 0
	}
	n, err := strconv.Atoi(p.Annotations[key])
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return n
}

// gaveUp reports whether the failed pod is the last one of its index (indexed_job_utils.go: isIndexFailed).
func (p *pass) gaveUp(pod *corev1.Pod) bool {
	if !lost(p.job, pod) {
		return false
	}
	verdict := matchRule(p.job.Spec.PodFailurePolicy, pod)
	return verdict.action == batchv1.PodFailurePolicyActionFailIndex ||
		verdict.counts() && failuresOf(pod) >= int(*p.job.Spec.BackoffLimitPerIndex)
}
