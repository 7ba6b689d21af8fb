package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// View is the input of a decision, as of one moment.
type View struct {
	// Job is the Job, with defaults; it isn't changed.
	Job *batchv1.Job
	// Pods are the pods that the Job controls, including those that are being deleted.
	Pods []*corev1.Pod
	// Backoff is the record of its failures.
	Backoff Backoff
	// Failed reports whether pods could not be created or deleted in this pass: the status must not include them.
	Failed bool
}

// Plan is a workload.Plan without its actions. They are in the fields, in the order of their execution.
type Plan struct {
	workload.Plan
	// Forget has the pods whose finalizer is removed because the stored status has counted them, or need not (F-13).
	Forget []*corev1.Pod
	// Release has pods whose finalizer is removed before Remove: they are not counted.
	Release []*corev1.Pod
	// Remove has the pods to delete.
	Remove []*corev1.Pod
	// Create has the new pods, complete except for their names.
	Create []*corev1.Pod
	// Backoff is the new record of failures once Status is stored, and Fresh has the pods that it newly includes.
	Backoff Backoff
	Fresh   []types.UID
}

// Limits of one pass (job_controller.go: MaxPodCreateDeletePerSync, MaxUncountedPods).
const (
	mostPods      = 500
	mostUncounted = 500
)

// Managed reports whether the Job is this controller's (spec.managedBy).
func Managed(j *batchv1.Job) bool {
	return j.Spec.ManagedBy == nil || *j.Spec.ManagedBy == batchv1.JobControllerName
}

// Finished reports whether the Job is Complete or Failed.
func Finished(j *batchv1.Job) bool {
	return isTrue(j.Status.Conditions, batchv1.JobComplete) || isTrue(j.Status.Conditions, batchv1.JobFailed)
}

// Abandoned reports whether the pod's finalizer has no use any more: its Job doesn't count it (F-14). owner is the Job
// that its controller reference names; nil if that Job does not exist, even if another one has its name
// (job_controller.go: syncOrphanPod).
func Abandoned(pod *corev1.Pod, owner *batchv1.Job) bool {
	if !tracked(pod) {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	switch {
	case ref == nil:
		return true
	case ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String():
		return false
	case owner == nil || owner.UID != ref.UID:
		return true
	}
	return Managed(owner) && Finished(owner)
}
