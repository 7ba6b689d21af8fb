package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestClockSetBackDoesNotDelayReplacement: a pod fails, and the clock is set back by three hours. The pod is replaced
// after the usual pause, not when the clock has caught up.
func TestClockSetBackDoesNotDelayReplacement(t *testing.T) {
	for _, perIndex := range []bool{false, true} {
		w := workloadtest.New()
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "a", Labels: map[string]string{"job": "j"}},
			Spec: batchv1.JobSpec{
				Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1), BackoffLimit: ptr.To[int32](6),
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"job": "j"}},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"job": "j"}}}}}
		if perIndex {
			j.Spec.CompletionMode, j.Spec.BackoffLimitPerIndex = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](6)
		}
		w.Put(j)
		c := New()
		w.Settle(c)
		pods := func() (all []workload.Object) { return w.All(workload.Pods, "a") }
		if len(pods()) != 1 {
			t.Fatalf("%d pods at the start", len(pods()))
		}
		p := pods()[0].DeepCopyObject().(*corev1.Pod)
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(w.Now)}}}}
		w.Put(p)
		w.Settle(c)
		w.Now = w.Now.Add(-3 * time.Hour)
		for range 3 {
			w.Settle(c)
			w.Now = w.Now.Add(delays.Min / 2)
		}
		if len(pods()) != 2 {
			t.Errorf("per index %t: %d pods after the pause; then: %s", perIndex, len(pods()), w.Settle(c))
		}
	}
}
