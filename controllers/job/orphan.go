package job

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Orphans returns the controller of pods that no Job counts any more: it removes their finalizer (F-14). Upstream's job
// controller includes it.
func Orphans() workload.Controller {
	return workload.Controller{
		Name: "job-controller", For: workload.Pods, Quiet: true, Sees: []workload.Resource{workload.Jobs},
		Wake: abandoned,
		Decide: workload.Present(func(v workload.View, pod *corev1.Pod, _ time.Time) (plan workload.Plan) {
			if Abandoned(pod, owner(v, pod)) {
				plan.Do = []workload.Action{workload.Update{Object: untracked(pod)}}
			}
			return plan
		}),
	}
}

// owner returns the Job named by the pod's controller reference.
func owner(r workload.Reader, pod *corev1.Pod) *batchv1.Job {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	return workload.Get[*batchv1.Job](r, pod.Namespace, ref.Name)
}

// abandoned returns the pods that a change may have orphaned: the pod itself, or the pods of a deleted Job.
func abandoned(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource == workload.Jobs {
		return workload.KeysOf(workload.Controlled[*corev1.Pod](r, cmp.Or(c.New, c.Old).UID),
			func(pod *corev1.Pod) bool { return Abandoned(pod, owner(r, pod)) })
	}
	if c.New == nil || !slices.Contains(c.New.Finalizers, batchv1.JobTrackingFinalizer) {
		return nil
	}
	pod := workload.Get[*corev1.Pod](r, c.New.Namespace, c.New.Name)
	if pod != nil && Abandoned(pod, owner(r, pod)) {
		return []workload.Key{c.New.Key}
	}
	return nil
}
